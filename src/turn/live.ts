/**
 * The live stream of one turn: what happened so far, for whoever joins late, and every new event to the bus
 * with the item events that mirror it.
 */
import type { Bus, Emission } from "../events/bus.ts"
import type { TurnEvent } from "../schema/event.ts"
import { createItemReducer } from "../schema/item-reducer.ts"
import type { ToolUseBlock } from "../schema/message.ts"
import { shownInput } from "../schema/question.ts"

export type LiveTurn = ReturnType<typeof createLiveTurn>

export function createLiveTurn(bus: Bus, chatId: string, turnId: string) {
  const reducer = createItemReducer(turnId)
  /** Plain events only: item events are derived again at replay. */
  const log: TurnEvent[] = []
  let ended = false

  const emit = (event: TurnEvent): void => {
    // What a client was asked may be settled by the end itself, and is told behind it.
    if (ended && event.type !== "request_resolved") return
    remember(log, event)
    ended ||= isLast(event)
    bus.publishAll(chatId, withItems(reducer, event), turnId)
  }

  /**
   * Everything so far as it goes over the wire to a late listener, marked `replayed`. It stands at the newest
   * position of the bus: what comes behind that position is not in it.
   */
  const replay = (): Emission[] => replayOf(log, { chatId, turnId, seq: bus.lastSeq() })

  return { turnId, chatId, emit, replay, ended: () => ended }
}

/** Encodes past events of a turn for a listener that joins late or asks again. */
export function replayOf(
  events: readonly TurnEvent[],
  at: { chatId: string; turnId: string; seq: number },
): Emission[] {
  const { chatId, turnId, seq } = at
  const reducer = createItemReducer(turnId)
  return events
    .flatMap((event) => withItems(reducer, event))
    .map((event) => ({
      seq,
      chatId,
      turnId,
      type: event.type,
      json: JSON.stringify({ ...event, seq, chat_id: chatId, turn_id: turnId, replayed: true }),
    }))
}

/** A call as clients see it. */
export const toolCallEvent = ({ id, name, input }: ToolUseBlock): TurnEvent => ({
  ...{ type: "tool_call", id, name, input: shownInput(name, input) },
})

const isLast = ({ type }: TurnEvent): boolean => type === "done" || type === "error"

/** Items close before the event that ends the stream, else nobody would see them close. */
function withItems(reducer: ReturnType<typeof createItemReducer>, event: TurnEvent): TurnEvent[] {
  const items = reducer.push(event)
  return isLast(event) ? [...items, event] : [event, ...items]
}

/** Keeps what tells the same as all events would: neighbouring deltas are one, progress replaces progress, and a plan the plan before. */
function remember(log: TurnEvent[], event: TurnEvent): void {
  const last = log.at(-1)
  if (event.type === "text_delta" || event.type === "thinking_delta") {
    if (last?.type !== event.type) log.push(event)
    else log[log.length - 1] = { ...last, text: last.text + event.text }
    return
  }
  if (event.type === "plan" && event.tasks.length > 0) {
    const before = log.findLastIndex(({ type }) => type === "plan")
    const open = log[before]
    // In its first place, where its item stands.
    if (open?.type === "plan" && open.tasks.length > 0) {
      log[before] = event
      return
    }
  }
  if (event.type === "tool_progress") {
    const before = log.findLastIndex((past) => past.type === event.type && past.id === event.id)
    if (before >= 0) log.splice(before, 1)
  }
  log.push(event)
}
