/** What the turns of one kernel share: the rows, the turns that are live, and the queue of each chat. */
import { deferred, keyedQueue, settledWithin } from "../lib/async.ts"
import { errorText } from "../lib/error.ts"
import type { Generation } from "../schema/generation.ts"
import { createLiveTurn, type LiveTurn } from "./live.ts"
import type { TurnParts } from "./parts.ts"
import { runTurn } from "./run.ts"
import type { RunningTurn } from "./running-turn.ts"
import type { TurnSpec } from "./spec.ts"
import { createTurnStore, type TurnStore } from "./store.ts"

/** How long a cancel waits for the turn to wind down before it answers. */
export const CANCEL_WAIT_MS = 200

export interface ActiveTurn {
  spec: TurnSpec
  live: LiveTurn
  controller: AbortController
  state: Generation["state"]
  model: string | null
  step: () => number
  /** Once it has begun. */
  running: RunningTurn | undefined
  startedAt: number
  toldSleeping: boolean
  /** Settles when the turn is over and stored. */
  finished: Promise<void>
}

export interface TurnRoom {
  parts: TurnParts
  rows: TurnStore
  active: Map<string, ActiveTurn>
  queue: ReturnType<typeof keyedQueue<string>>
  /** Messages without a turn that a content filter refused: left out of every prompt. */
  refusedMessages: Set<string>
  /** The kernel is stopping: nothing new is admitted. */
  draining: boolean
}

export const createTurnRoom = (parts: TurnParts): TurnRoom => ({
  parts,
  rows: createTurnStore(parts.store),
  active: new Map(),
  queue: keyedQueue<string>(),
  refusedMessages: new Set(),
  draining: false,
})

/** Turns of a chat that wait or run. One that has told its end is over, whatever it still tidies up. */
export const turnsIn = (room: TurnRoom, chatId: string): ActiveTurn[] =>
  [...room.active.values()].filter((turn) => turn.spec.chatId === chatId && !turn.live.ended())

export function liveTurn(room: TurnRoom, turnId: string): LiveTurn | undefined {
  const live = room.active.get(turnId)?.live
  return live?.ended() ? undefined : live
}

/** Puts an admitted turn into its chat's queue. Nothing is told before the caller could listen. */
export function launch(room: TurnRoom, spec: TurnSpec, messageIds: string[]): ActiveTurn {
  const { parts, active } = room
  const done = deferred()
  const told = deferred()
  const queued = turnsIn(room, spec.chatId).length > 0
  const turn: ActiveTurn = {
    spec,
    live: createLiveTurn(parts.bus, spec.chatId, spec.id),
    controller: new AbortController(),
    state: "queued",
    model: null,
    step: () => 0,
    running: undefined,
    startedAt: parts.clock.now(),
    toldSleeping: false,
    finished: done.promise,
  }
  active.set(spec.id, turn)
  setImmediate(() => {
    turn.live.emit({ type: "accepted", message_ids: messageIds, queued })
    if (queued) turn.live.emit({ type: "queued" })
    if (parts.gate.isClosed()) tellSleeping(turn)
    told.resolve()
  })
  void room.queue
    .run(spec.chatId, () => told.promise.then(() => passGate(room, turn)))
    .catch((error) => parts.log.error("turn broke", { turn_id: spec.id, error: errorText(error) }))
    .finally(() => {
      active.delete(spec.id)
      done.resolve()
    })
  return turn
}

/** While the kernel sleeps a turn waits here, unless it is cancelled. */
async function passGate(room: TurnRoom, turn: ActiveTurn): Promise<void> {
  const leave = await room.parts.gate.enter(() => tellSleeping(turn), turn.controller.signal)
  try {
    await perform(room, turn)
  } finally {
    leave()
  }
}

function tellSleeping(turn: ActiveTurn): void {
  if (turn.toldSleeping) return
  turn.toldSleeping = true
  turn.live.emit({ type: "sleeping" })
}

function perform(room: TurnRoom, turn: ActiveTurn): Promise<void> {
  const { parts, rows, refusedMessages } = room
  const { spec, live, controller } = turn
  if (!controller.signal.aborted) turn.state = "running"
  return runTurn({
    ...{ parts, rows, spec, live, refusedMessages },
    signal: controller.signal,
    onStart: (running) => {
      turn.running = running
      turn.model = running.model
      turn.step = () => running.step
    },
  })
}

/** Asks the turn to end; true when it did so within the wait. */
export function stop(room: TurnRoom, turn: ActiveTurn, reason: string): Promise<boolean> {
  const { spec, controller } = turn
  if (!controller.signal.aborted) {
    room.parts.log.info("turn cancelled", { turn_id: spec.id, chat_id: spec.chatId, reason })
    turn.state = "cancelling"
    controller.abort(new Error(reason))
  }
  return settledWithin(turn.finished, CANCEL_WAIT_MS)
}

/** After the drain time is over a cancelled turn gets this long to store what it has. */
const DRAIN_CANCEL_MS = 5000

/** Admits nothing more, lets running turns end within `ms`, then cancels what is left. */
export async function drain(room: TurnRoom, ms: number): Promise<void> {
  room.draining = true
  const turns = () => [...room.active.values()]
  const all = () => Promise.all(turns().map((turn) => turn.finished))
  if (await settledWithin(all(), ms)) return
  for (const turn of turns()) void stop(room, turn, "the kernel is stopping")
  await settledWithin(all(), DRAIN_CANCEL_MS)
}
