/**
 * The facade of turns: admits sends, runs the turns of one chat one after another and of many chats side by
 * side, and lets them be followed, listed and cancelled. A turn outlives whoever sent it.
 */
import type { Emission } from "../events/bus.ts"
import { isoTime } from "../lib/clock.ts"
import type { NotesView } from "../notebook/view.ts"
import type { BytesPiece, ReadBytes } from "../schema/client-op.ts"
import type { Generation } from "../schema/generation.ts"
import type { PlanTask } from "../schema/plan.ts"
import type { Send } from "../schema/send.ts"
import { createFreezer } from "../tools/freezer.ts"
import type { Tool } from "../tools/tool.ts"
import { askQuestionsTool } from "./ask-questions.ts"
import { clientAnswers } from "./client-answers.ts"
import { type OpTurn, readClientBytes } from "./client-ops.ts"
import { contextReport } from "./context-report.ts"
import { type Levers, leversFor } from "./levers.ts"
import type { LiveTurn } from "./live.ts"
import type { TurnParts } from "./parts.ts"
import { Pending } from "./pending.ts"
import { prefixTokens } from "./prefix.ts"
import { eventsOfStoredTurn } from "./replay.ts"
import {
  type ActiveTurn,
  createTurnRoom,
  drain,
  liveTurn,
  stop,
  type TurnRoom,
  turnsIn,
} from "./room.ts"
import { type Admission, send, sendSilently } from "./send.ts"
import { turnTools } from "./turn-tools.ts"

const ASKED = "asked by a client"

export type Turns = ReturnType<typeof createTurns>

export function createTurns(rooms: Omit<TurnParts, "pending" | "freeze">) {
  const parts: TurnParts = {
    ...rooms,
    pending: new Pending(),
    freeze: createFreezer(rooms.registry),
  }
  const room = createTurnRoom(parts)
  const { pending } = parts
  const opTurn = ({ spec, live, controller }: ActiveTurn): OpTurn => ({
    ...{ spec, live, signal: controller.signal },
  })
  const turnOf = (id: string): OpTurn | undefined => {
    const turn = room.active.get(id)
    return turn && opTurn(turn)
  }
  const leversOf = (id: string): Levers | undefined => {
    const running = room.active.get(id)?.running
    return running && leversFor(parts, running)
  }
  return {
    /** Tools that belong to turns themselves. */
    tools: [
      askQuestionsTool({ pending, turnOf, ttlMs: parts.settings.askTtlMs }),
      ...turnTools(leversOf),
    ] as Tool[],
    /** How tools move the turn that calls them; undefined once it is over. */
    leversOf,
    /** What a turn knows of its notebook; undefined once it is over, and for one that is shown none. */
    notesOf: (id: string): NotesView | undefined => room.active.get(id)?.running?.notes,
    /** Tells of the whole plan of a chat, in the stream of its turn where one runs. */
    tellPlan: (chatId: string, tasks: PlanTask[]): void => tellPlan(room, chatId, tasks),
    ...clientAnswers(pending),
    /** A piece of a file on the machine of the chat's running client. Throws KernelError. */
    readClientBytes: (chatId: string, piece: ReadBytes): Promise<BytesPiece> => {
      const turn = turnsIn(room, chatId).find(
        ({ spec, state }) => spec.identity.clientOps && state === "running",
      )
      return readClientBytes(parts, turn && opTurn(turn), piece)
    },
    send: (chatId: string, body: Send): Promise<Admission> => send(room, chatId, body),
    silent: (chatId: string, body: Send) => sendSilently(room, chatId, body),

    /** The stream of a turn that is not over. */
    follow: (turnId: string): LiveTurn | undefined => liveTurn(room, turnId),
    /** The stream of the chat's running turn, else of the first that waits. */
    liveOf: (chatId: string): LiveTurn | undefined => turnsIn(room, chatId)[0]?.live,
    isRunning: (chatId: string): boolean => turnsIn(room, chatId).length > 0,
    /** The events of a turn that is over, told again. Throws not_found. */
    replayFinished: (turnId: string): Emission[] => eventsOfStoredTurn(parts, room.rows, turnId),
    /** Tokens of what stands before the messages of the chat's next request. */
    prefixTokens: (chatId: string): number => prefixTokens(parts, chatId),
    /** What fills the prompt of the chat's next request. Throws not_found. */
    contextReport: (chatId: string) => contextReport(parts, chatId),
    generations: (): Generation[] => [...room.active.values()].map(asGeneration),
    ...cancels(room),
    /** Turns that a kernel left open when it died are marked as interrupted; their number. */
    recover: (): number => parts.store.write(() => room.rows.interruptOpen(parts.clock.now())),
    drain: (ms: number): Promise<void> => drain(room, ms),
  }
}

function tellPlan(room: TurnRoom, chatId: string, tasks: PlanTask[]): void {
  const [turn] = turnsIn(room, chatId)
  if (turn) turn.live.emit({ type: "plan", tasks })
  else room.parts.bus.publish(chatId, { type: "plan", tasks })
}

function cancels(room: TurnRoom) {
  const stopAll = (turns: readonly ActiveTurn[], reason: string) =>
    Promise.all(turns.map((turn) => stop(room, turn, reason)))
  return {
    /** Cancels the chat's turns and waits a moment for them to wind down; how many there were. */
    cancelChat: async (chatId: string, reason = ASKED): Promise<number> =>
      (await stopAll(turnsIn(room, chatId), reason)).length,
    /** Cancels one turn; false when it is not live. */
    cancel: async (turnId: string, reason = ASKED): Promise<boolean> => {
      const turn = room.active.get(turnId)
      if (turn) await stop(room, turn, reason)
      return turn !== undefined
    },
    /** Cancels every turn of the chat; settles when they are over and stored. */
    stopChat: async (chatId: string, reason: string): Promise<void> => {
      const turns = turnsIn(room, chatId)
      await stopAll(turns, reason)
      await Promise.all(turns.map((turn) => turn.finished))
    },
  }
}

const asGeneration = (turn: ActiveTurn): Generation => ({
  id: turn.spec.id,
  chat_id: turn.spec.chatId,
  source: turn.spec.source,
  state: turn.state,
  model: turn.model,
  step: turn.step(),
  started_at: isoTime(turn.startedAt),
})
