/** The parts list: builds every room in order and hands each what it needs. No logic lives here. */
import type { ApiParts } from "./api/parts.ts"
import { createChats } from "./chats/chats.ts"
import { configSecrets } from "./config/mask.ts"
import type { Config } from "./config/schema.ts"
import { createBus } from "./events/bus.ts"
import type { SetWorkdir } from "./files/workdir-tool.ts"
import type { History } from "./history/history.ts"
import { createImages } from "./images/images.ts"
import { completeOnce } from "./kernel/complete.ts"
import { createDesk } from "./kernel/desk.ts"
import type { Files } from "./kernel/files.ts"
import { createFolding } from "./kernel/folding.ts"
import { createHands } from "./kernel/hands.ts"
import { startHousekeeping } from "./kernel/housekeeping.ts"
import { createModelRouter, knownModel } from "./kernel/models.ts"
import { createPast } from "./kernel/past.ts"
import { readPersona } from "./kernel/persona.ts"
import { registerTools } from "./kernel/register-tools.ts"
import type { Shell } from "./kernel/shell.ts"
import { createNights } from "./kernel/sleep.ts"
import { loadRatios, saveRatios } from "./kernel/token-ratios.ts"
import { turnSettings } from "./kernel/turn-settings.ts"
import { commit, version } from "./lib/build-info.ts"
import type { Clock } from "./lib/clock.ts"
import type { Environment } from "./lib/environment.ts"
import { uuidV4, uuidV7 } from "./lib/id.ts"
import type { Log } from "./lib/log.ts"
import { createTimeZone } from "./lib/time-zone.ts"
import type { MockOptions } from "./llm/mock.ts"
import type { Router } from "./llm/router.ts"
import type { Memories } from "./memory/memories.ts"
import { createPersons } from "./persons/persons.ts"
import type { ChatEvent } from "./schema/event.ts"
import { createSkills } from "./skills/skills.ts"
import type { Sleep } from "./sleep/sleep.ts"
import { createSpend } from "./spend/spend.ts"
import { newestId } from "./store/newest-id.ts"
import { openStore, type Store } from "./store/open.ts"
import { createReader, type Reader } from "./store/reader.ts"
import { createRedactor } from "./tools/redaction/redactor.ts"
import { createRegistry } from "./tools/registry.ts"
import { createToolsets } from "./toolsets/toolsets.ts"
import { createTurns, type Turns } from "./turn/turns.ts"

export interface KernelOptions {
  config: Config
  environment: Environment
  clock: Clock
  log: Log
  /** For upstreams of the provider `mock`. */
  mock?: MockOptions
}

export interface Kernel {
  /** What the API needs of it. */
  api: ApiParts
  /** Takes no new turns, waits up to `ms` for the running ones and cancels the rest. */
  drain(ms: number): Promise<void>
  /** Drains and closes the file. */
  close(drainMs: number): Promise<void>
}

/** Throws KernelError("config") for a database, a persona or a setting that cannot be used. */
export async function createKernel(options: KernelOptions): Promise<Kernel> {
  const { config, clock, log } = options
  const ground = await layGround(options)
  const { zone, redact, persona, store, reader, newId, bus, spend, router, emit } = ground
  const { models } = router
  const isKnownModel = (name: string) => knownModel(models, name)

  const persons = createPersons({ store, clock, masterAliases: config.master.aliases })
  const { memories, sleep, gate } = createNights({ ...ground, clock, log, config })
  const images = createImages({ ...imageSettings(config), store, clock, log, newId: uuidV4 })
  const past = createPast({ ...ground, clock, log, images })
  const { history, messages, items, summaries } = past
  const isRunning = (chatId: string) => turns.isRunning(chatId)
  const setWorkdir: SetWorkdir = (id, place) => chats.setWorkdir(id, place)
  const { shell, files } = createHands({ ...options, store, newId, isRunning, setWorkdir })
  const registry = createRegistry({ log })
  const skills = createSkills({ store, clock, isKnownModel })
  const unpin = (name: string) => chats.dropToolset(name)
  const toolsets = createToolsets({ store, clock, registry, unpin })
  const desk = createDesk({
    ...{ ...options, store, newId, router, summaries, spend },
    chat: (id) => chats.get(id),
    tellPlan: (chatId, tasks) => turns.tellPlan(chatId, tasks),
  })
  const chats = createChats({
    ...{ store, clock, newId, isKnownModel },
    toolsetPlace: toolsets.get,
    ...{ ...chatSettings(config), emit, isRunning },
    stopTurns: (chatId, reason) => turns.stopChat(chatId, reason),
    followers: [files.follower, { forked: history.note }, ...desk.followers],
  })

  const personName = (id: string) => persons.get(id)?.name
  const { compaction, folds } = createFolding({
    ...{ config, log, store, router, registry, zone, spend, chats, messages, summaries },
    personName,
  })
  const turns = createTurns({
    ...{ gate, clock, log, store, bus, newId, router, registry, redact, isKnownModel, personName },
    ...{ chats, messages, summaries, images, skills, toolsets },
    ...{ compaction, plans: desk.plans, notebook: desk.ofTurns },
    ...{ projectReader: files.projectReader, speakerOf: persons.speakerOf },
    recall: memories.remind,
    spend: { record: spend.record, noteRateLimits: spend.rateLimits.set },
    settings: turnSettings(config, { persona, zone }),
  })
  const rooms = { persons, memories, files, shell, turns, skills, toolsets, router, spend, store }
  const talk = { chats, history, summaries, folds, sleep, ...desk }
  await registerTools(registry, { ...options, ...rooms, ...talk, zone })
  markInterrupted(turns, log)
  const stopChores = startHousekeeping({ chats, images, files, history, zone, clock, log, sleep })
  const drain = drainOf(sleep, turns)

  const write = (work: () => void) => store.write(work)
  const promptCache = config.llm.prompt_cache
  return {
    api: {
      ...{ config, log, clock, newId, bus, turns, chats, messages, items, persons, images, spend },
      ...{ registry, models, zone, files, memories, skills, toolsets, summaries, folds, ...desk },
      ...{ sleep, build: { version, commit } },
      complete: (body, signal) => completeOnce({ router, spend, write, promptCache }, body, signal),
    },
    drain,
    close: async (drainMs) => {
      stopChores()
      await drain(drainMs)
      await closeRooms({ ...rooms, history, reader })
    },
  }
}

/** What every room stands on: the clock's zone, the file, the bus, and the way to the models. */
async function layGround(options: KernelOptions) {
  const { config, clock, log } = options
  const zone = createTimeZone(config.master.timezone)
  const redact = await createRedactor({ ...config.secrets, literals: [...configSecrets(config)] })
  const persona = await readPersona(config.persona.file)

  const store = openStore({ path: config.db.path, log })
  const reader = createReader(store.path)
  const newId = uuidV7(clock, newestId(store))
  const bus = createBus({ clock, log })

  const spend = createSpend({ store, reader, clock })
  const router = createModelRouter({ ...options, spend, zone, ratios: loadRatios(store) })
  const emit = (chatId: string, event: ChatEvent) =>
    store.afterCommit(() => bus.publish(chatId, event))
  return { zone, redact, persona, store, reader, newId, bus, spend, router, emit }
}

/** What still works is let go before what it works with. */
async function closeRooms(rooms: {
  shell: Pick<Shell, "close">
  files: Pick<Files, "close">
  memories: Pick<Memories, "close">
  history: Pick<History, "close">
  router: Router
  reader: Reader
  store: Store
}): Promise<void> {
  const { shell, files, memories, history, router, reader, store } = rooms
  await shell.close()
  files.close()
  saveRatios(store, router.tokens)
  await Promise.all([memories.close(), history.close()])
  await reader.close()
  store.close()
}

/** Turns that wait for the night to end are let in, else they would wait for nothing. */
const drainOf =
  (sleep: Pick<Sleep, "wake">, turns: Pick<Turns, "drain">) =>
  async (ms: number): Promise<void> => {
    await Promise.all([sleep.wake(), turns.drain(ms)])
  }

/** What the last stop cut off is marked. */
function markInterrupted(turns: Pick<Turns, "recover">, log: Log): void {
  const interrupted = turns.recover()
  if (interrupted > 0) log.warn("turns were cut off by the last stop", { turns: interrupted })
}

const chatSettings = ({ chats: { quiet_folders, ephemeral_ttl } }: Config) => ({
  ...{ quietFolders: quiet_folders, ephemeralTtlMs: ephemeral_ttl },
})

const imageSettings = ({ images: { dir, keep, max_bytes, base_url } }: Config) => ({
  ...{ dir, keepMs: keep, maxBytes: max_bytes },
  ...(base_url !== undefined && { baseUrl: base_url }),
})
