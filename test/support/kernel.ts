/** A whole kernel in this process, on a temporary file, with the mock as its model. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { buildConfig } from "../../src/config/build.ts"
import type { Tree } from "../../src/config/merge.ts"
import { createKernel, type Kernel } from "../../src/kernel.ts"
import { type Clock, systemClock } from "../../src/lib/clock.ts"
import { isObject, parseJson } from "../../src/lib/json.ts"
import { createLog, type Log, silentLog } from "../../src/lib/log.ts"
import type { MockOptions } from "../../src/llm/mock.ts"
import type { ModelRequest } from "../../src/llm/provider.ts"
import type { LiveEvent, TurnEvent } from "../../src/schema/event.ts"
import type { Send } from "../../src/schema/send.ts"

export interface TestKernelOptions {
  /** Laid over a configuration that starts with nothing: `{ llm: { max_turn_iterations: 3 } }`. */
  config?: Tree
  clock?: Clock
  mock?: MockOptions
  /** An existing folder to start in again, as after a stop. */
  folder?: string
  log?: Log
}

export interface TestKernel extends Kernel {
  folder: string
  /** Every request that reached the mock, in order. */
  requests: ModelRequest[]
  newChat(): string
  /** Sends and waits for the end; the events of the turn, envelope fields left out. */
  turn(chatId: string, body: Send | string): Promise<SeenEvent[]>
  /** Closes and removes the folder. */
  dispose(): Promise<void>
}

export type SeenEvent = TurnEvent & { replayed?: true }

export const tempFolder = (): string => mkdtempSync(join(tmpdir(), "eva-test-"))

export async function testKernel(options: TestKernelOptions = {}): Promise<TestKernel> {
  const folder = options.folder ?? tempFolder()
  const requests: ModelRequest[] = []
  const kernel = await createKernel({
    config: testConfig(folder, options.config),
    environment: { PATH: process.env.PATH, HOME: folder },
    clock: options.clock ?? systemClock,
    log: options.log ?? silentLog,
    mock: {
      ...options.mock,
      observe: (request) => {
        options.mock?.observe?.(request)
        requests.push(structuredClone(request))
      },
    },
  })
  const { chats } = kernel.api
  return {
    ...kernel,
    folder,
    requests,
    newChat: () => chats.create({}).id,
    turn: (chatId, body) =>
      runTurn(kernel, chatId, typeof body === "string" ? { text: body } : body),
    dispose: async () => {
      await kernel.close(0)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** The smallest configuration, with a retry that does not make a test wait. */
export function testConfig(folder: string, over: Tree = {}) {
  const base: Tree = {
    server: { listen: "127.0.0.1:0" },
    db: { path: join(folder, "eva.db") },
    llm: {
      provider: "mock",
      model: { general: "mock" },
      models: [{ name: "mock" }, { name: "other" }],
      retry: { attempts: 3, first_delay: "1ms", max_delay: "2ms" },
    },
    // Tests call tools without a look at what a prompt has room for.
    tools: { dir: join(folder, "tools.d"), on_demand: [] },
    master: { timezone: "Europe/Berlin" },
  }
  const { config } = buildConfig({
    sources: [{ name: "test", directory: folder, tree: merged(base, over) }],
    environment: {},
    directory: folder,
  })
  return config
}

function merged(base: Tree, over: Tree): Tree {
  const out: Tree = { ...base }
  for (const [key, value] of Object.entries(over)) {
    const before = out[key]
    out[key] = isObject(before) && isObject(value) ? merged(before, value) : value
  }
  return out
}

/** The events of a turn until its last one, as a live listener gets them. */
export async function runTurn(kernel: Kernel, chatId: string, body: Send): Promise<SeenEvent[]> {
  const { turns } = kernel.api
  const admission = await turns.send(chatId, body)
  return untilEnd(kernel, chatId, admission.turnId)
}

export function untilEnd(kernel: Kernel, chatId: string, turnId: string): Promise<SeenEvent[]> {
  const seen: SeenEvent[] = []
  const { promise, resolve } = Promise.withResolvers<SeenEvent[]>()
  const { unsubscribe } = kernel.api.bus.subscribe({ chats: [chatId] }, (emission) => {
    if (emission.turnId !== turnId) return
    const {
      seq: _seq,
      chat_id: _chat,
      turn_id: _turn,
      ...event
    } = parseJson(emission.json) as Record<string, unknown>
    seen.push(event as SeenEvent)
    if (emission.type !== "done" && emission.type !== "error") return
    unsubscribe()
    resolve(seen)
  })
  return promise
}

/** A listener that waits for one kind of event. */
export function nextEvent<T extends LiveEvent["type"]>(
  kernel: Kernel,
  chatId: string,
  type: T,
): Promise<LiveEvent & { type: T }> {
  const { promise, resolve } = Promise.withResolvers<LiveEvent & { type: T }>()
  const { unsubscribe } = kernel.api.bus.subscribe({ chats: [chatId] }, (emission) => {
    if (emission.type !== type) return
    unsubscribe()
    resolve(parseJson(emission.json) as LiveEvent & { type: T })
  })
  return promise
}

/** A log that keeps its lines. */
export function recordedLog(): { log: Log; lines: string[] } {
  const lines: string[] = []
  return {
    lines,
    log: createLog({ level: "debug", human: false, write: (line) => lines.push(line) }),
  }
}

/** A `mock-plan:` message. */
export const plan = (steps: unknown[], before = "do it"): string =>
  `${before}\nmock-plan: ${JSON.stringify(steps)}`

export const texts = (events: readonly SeenEvent[]): string =>
  events.map((event) => (event.type === "text_delta" ? event.text : "")).join("")
