/**
 * The live stream of one turn: what happened so far, for whoever joins late, and every new event to the bus
 * with the item events that mirror it.
 */
import type { Bus, Emission } from "../events/bus.ts"
import type { TurnEvent } from "../schema/event.ts"
import { createItemReducer } from "../schema/item-reducer.ts"

export type LiveTurn = ReturnType<typeof createLiveTurn>

export function createLiveTurn(bus: Bus, chatId: string, turnId: string) {
  const reducer = createItemReducer(turnId)
  /** Plain events only: item events are derived again at replay. Neighbouring deltas are one. */
  const log: TurnEvent[] = []
  let lastSeq = bus.lastSeq()
  let ended = false

  const publish = (event: TurnEvent): void => {
    lastSeq = bus.publish(chatId, event, turnId).seq
  }

  const emit = (event: TurnEvent): void => {
    if (ended) return
    const before = log.at(-1)
    const merged = before && mergeDeltas(before, event)
    if (merged) log[log.length - 1] = merged
    else log.push(event)
    ended = event.type === "done" || event.type === "error"
    for (const mirrored of withItems(reducer, event)) publish(mirrored)
  }

  /** Everything so far as it goes over the wire to a late listener, marked `replayed`. */
  const replay = (): Emission[] => replayOf(log, { chatId, turnId, seq: lastSeq })

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

/** Items close before the event that ends the stream, else nobody would see them close. */
function withItems(reducer: ReturnType<typeof createItemReducer>, event: TurnEvent): TurnEvent[] {
  const items = reducer.push(event)
  return event.type === "done" || event.type === "error" ? [...items, event] : [event, ...items]
}

function mergeDeltas(before: TurnEvent, after: TurnEvent): TurnEvent | undefined {
  if (before.type === "text_delta" && after.type === "text_delta") {
    return { ...before, text: before.text + after.text }
  }
  if (before.type === "thinking_delta" && after.type === "thinking_delta") {
    return { ...before, text: before.text + after.text }
  }
  if (before.type === "tool_progress" && after.type === "tool_progress" && before.id === after.id) {
    return after
  }
  return undefined
}
