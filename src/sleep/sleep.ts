/**
 * The sleep of the kernel: once a day, when nobody talks, its stages tidy what has gathered. Turns that come
 * meanwhile wait at the gate. Whatever breaks in a stage ends the night, never the kernel.
 */
import type { Clock } from "../lib/clock.ts"
import { isoTime } from "../lib/clock.ts"
import { errorText, KernelError, notFound } from "../lib/error.ts"
import type { Log } from "../lib/log.ts"
import type { Memories } from "../memory/memories.ts"
import type { RunState, SleepRun, SleepStatus, SleepUndone } from "../schema/sleep.ts"
import type { Store } from "../store/open.ts"
import { agesOf, breathe, figuresOf, wholeCorpus } from "./corpus.ts"
import { boundariesAround } from "./due.ts"
import type { SleepGate } from "./gate.ts"
import { toRun } from "./journal.ts"
import type { Night } from "./memory-stage.ts"
import type { SleepStore } from "./store.ts"
import { undoNight } from "./undo.ts"

/** What a night is made of, in this order. */
export interface Stage {
  name: string
  /** Whether it has anything to do. */
  isWanted(): boolean
  /** Applies whole phases; returns early when the night's signal fires. */
  run(night: Night): Promise<void>
}

export interface SleepSettings {
  enabled: boolean
  /** HH:MM */
  at: string
  idleForMs: number | undefined
  dryRun: boolean
  keepRecentMs: number
  halfLifeMs: number
}

export interface SleepOptions {
  store: Store
  clock: Clock
  log: Log
  zone: { name(): string }
  gate: SleepGate
  journal: SleepStore
  memories: Memories
  stages: readonly Stage[]
  settings: SleepSettings
  /** Told of each night that has changed something. */
  onNotable?: ((run: SleepRun) => void) | undefined
}

export type Sleep = ReturnType<typeof createSleep>

/** A timer that waits longer would miss a machine that slept. */
const LOOK_EVERY_MS = 30_000
/** Turns that come meanwhile wait, so a turn that takes longer keeps the kernel awake. */
const FALL_ASLEEP_MAX_MS = 10 * 60_000
/** A night that the kernel died in is begun anew so often. */
const ATTEMPTS = 3

interface Running {
  controller: AbortController
  state: "falling_asleep" | "asleep"
  runId: number | null
  phase: string | null
  finished: Promise<void>
}

interface Room extends SleepOptions {
  running: Running | undefined
}

export function createSleep(options: SleepOptions) {
  const room: Room = { ...options, running: undefined }
  const { store, journal, gate, settings } = room
  const interrupted = store.write(journal.interruptOpen)
  if (interrupted > 0)
    room.log.warn("a night was cut off by the last stop", { nights: interrupted })
  return {
    status: (): SleepStatus => ({
      state: room.running?.state ?? "awake",
      enabled: settings.enabled,
      next_at: isoTime(nextAt(room)),
      run_id: room.running?.runId ?? null,
      phase: room.running?.phase ?? null,
    }),
    /** Falls asleep as soon as the running turns are over. Throws conflict when nothing is to be done. */
    start: (): SleepStatus["state"] => {
      if (room.running) return room.running.state
      if (!room.stages.some((stage) => stage.isWanted())) {
        throw new KernelError("conflict", "there is nothing to tidy: too few memories, or all off")
      }
      // No turn begins from here on, else one after another would keep it awake.
      gate.close()
      return fallAsleep(room, null).state
    },
    /** Settles when it is awake; false when it was. */
    wake: async (): Promise<boolean> => {
      const { running } = room
      running?.controller.abort()
      await running?.finished
      return running !== undefined
    },
    /** Falls asleep when it is due and nobody talks; whether it did. */
    look: (): boolean => look(room),
    /** Settles when no night runs. */
    settled: (): Promise<void> => room.running?.finished ?? Promise.resolve(),
    runs: (page: { limit: number; before?: number | undefined }): SleepRun[] =>
      journal.list({ limit: page.limit, before: page.before }).map((row) => toRun(journal, row)),
    /** Throws not_found. */
    run: (id: number): SleepRun => {
      const row = journal.find(id)
      if (!row) throw notFound("night", String(id))
      return toRun(journal, row)
    },
    /** Throws KernelError: not_found, conflict. */
    undo: (id: number): SleepUndone => {
      if (room.running) throw new KernelError("conflict", "the kernel sleeps; wake it first")
      return undoNight({ ...room, now: room.clock.now }, id)
    },
    /** Looks by itself from now on; gives the function that stops it. */
    startTimer: (): (() => void) => {
      if (!settings.enabled) return () => {}
      const timer = setInterval(() => look(room), LOOK_EVERY_MS)
      timer.unref()
      return () => clearInterval(timer)
    },
  }
}

/** The moment that is due next: a missed one until it is slept, unless nothing waits there. */
function nextAt({ clock, zone, settings, journal }: Room): number {
  const { last, next } = boundariesAround(clock.now(), { at: settings.at, zone: zone.name() })
  return isOwed(journal, last) ? last : next
}

function isOwed(journal: SleepStore, boundary: number): boolean {
  const { attempts, served } = journal.boundary(boundary)
  return served === 0 && attempts < ATTEMPTS
}

function look(room: Room): boolean {
  const { clock, zone, settings, journal, gate, stages, store } = room
  if (!settings.enabled || room.running) return false
  const { last } = boundariesAround(clock.now(), { at: settings.at, zone: zone.name() })
  if (!isOwed(journal, last)) return false
  if (gate.inside() > 0) return false
  const { idleForMs } = settings
  if (idleForMs !== undefined && clock.now() - gate.quietSince() < idleForMs) return false
  if (!stages.some((stage) => stage.isWanted())) {
    // Else the first memory too many would put the kernel to sleep in the middle of the day.
    store.write(() => journal.serve(last))
    return false
  }
  gate.close()
  store.write(() => journal.claim(last))
  fallAsleep(room, last)
  return true
}

function fallAsleep(room: Room, boundary: number | null): Running {
  const controller = new AbortController()
  const running: Running = {
    ...{ controller, state: "falling_asleep", runId: null, phase: null },
    finished: Promise.resolve(),
  }
  room.running = running
  running.finished = sleepThrough(room, running, boundary)
    .catch((error) => room.log.error("sleep failed", { error: errorText(error) }))
    .finally(() => {
      room.running = undefined
      room.gate.open()
    })
  return running
}

async function sleepThrough(room: Room, running: Running, boundary: number | null): Promise<void> {
  const { gate, store, journal, clock, settings, log } = room
  const { signal } = running.controller
  await gate.empty(AbortSignal.any([signal, AbortSignal.timeout(FALL_ASLEEP_MAX_MS)]))
  if (signal.aborted) return
  if (gate.inside() > 0) {
    log.warn("a turn runs on and on; the kernel stays awake", { turns: gate.inside() })
    return
  }
  running.state = "asleep"
  const before = await figuresNow(room)
  const { dryRun } = settings
  const runId = store.write(() => journal.begin({ boundary, dryRun, at: clock.now(), before }))
  running.runId = runId
  log.info("fell asleep", { run: runId, memories: before.memories })
  const state = await runStages(room, running, { runId, dryRun, signal })
  const after = await figuresNow(room)
  store.write(() => {
    journal.end(runId, { state, at: clock.now(), after })
    if (boundary !== null) journal.serve(boundary)
  })
  log.info("woke up", { run: runId, state, memories: after.memories })
  const run = toRun(journal, journal.find(runId)!)
  if (isNotable(run)) room.onNotable?.(run)
}

async function runStages(
  { stages, log }: Room,
  running: Running,
  night: Pick<Night, "runId" | "dryRun" | "signal">,
): Promise<RunState> {
  const at = (phase: string): void => {
    running.phase = phase
  }
  try {
    for (const stage of stages) {
      if (night.signal.aborted) break
      if (stage.isWanted()) await stage.run({ ...night, at })
    }
    return night.signal.aborted ? "woken" : "done"
  } catch (error) {
    if (night.signal.aborted) return "woken"
    log.error("the night broke off", { run: night.runId, error: errorText(error) })
    return "failed"
  }
}

async function figuresNow({ memories, clock, settings }: Room) {
  return figuresOf(await wholeCorpus(memories, breathe), agesOf(clock, settings))
}

const isNotable = ({ phases }: SleepRun): boolean =>
  phases.some(({ ops }) => ops.some(({ outcome }) => outcome === "applied"))
