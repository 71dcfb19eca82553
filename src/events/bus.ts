/**
 * The bus of live events: gives each its kernel-wide number, keeps a bounded log to resume from, and hands
 * it to subscribers at once. It never waits for anybody; a subscriber that falls behind is the stream's care.
 */
import type { Clock } from "../lib/clock.ts"
import type { ChatEvent, TurnEvent } from "../schema/event.ts"

/** An event as it leaves: encoded once, however many listen. */
export interface Emission {
  seq: number
  chatId: string
  turnId: string | undefined
  type: string
  /** The JSON object of the wire, with `seq`, `chat_id` and `turn_id`. */
  json: string
}

export type Sink = (emission: Emission) => void

export interface Subscription {
  /** What was published after `since`, oldest first; empty without `since`. */
  missed: Emission[]
  /** `since` has left the log (or was never in it): the client must read items again. */
  reset: boolean
  unsubscribe(): void
}

export interface BusOptions {
  clock: Clock
  /** How many events, and how many UTF-16 units of JSON, the log holds at the most. */
  maxEvents?: number
  maxChars?: number
}

const MAX_EVENTS = 20_000
const MAX_CHARS = 8 * 1024 * 1024

export type Bus = ReturnType<typeof createBus>

export function createBus(options: BusOptions) {
  const { clock, maxEvents = MAX_EVENTS, maxChars = MAX_CHARS } = options
  // A start from the clock keeps numbers increasing over restarts without a write for each event.
  const firstSeq = clock.now() * 1000
  let seq = firstSeq
  let log: Emission[] = []
  let start = 0
  let chars = 0
  const everyone = new Set<Sink>()
  const byChat = new Map<string, Set<Sink>>()

  const trim = () => {
    while (log.length - start > maxEvents || chars > maxChars) chars -= log[start++]!.json.length
    if (start > maxEvents) {
      log = log.slice(start)
      start = 0
    }
  }

  const publish = (chatId: string, event: TurnEvent | ChatEvent, turnId?: string): Emission => {
    const emission: Emission = {
      seq: ++seq,
      chatId,
      turnId,
      type: event.type,
      json: JSON.stringify({ ...event, seq, chat_id: chatId, turn_id: turnId }),
    }
    log.push(emission)
    chars += emission.json.length
    trim()
    for (const sink of everyone) sink(emission)
    for (const sink of byChat.get(chatId) ?? []) sink(emission)
    return emission
  }

  const missedSince = (since: number, wanted: (emission: Emission) => boolean) => {
    const oldest = log[start]?.seq ?? seq + 1
    const reset = since > seq || since < oldest - 1
    if (reset) return { missed: [], reset }
    return { missed: log.slice(start + (since - oldest + 1)).filter(wanted), reset }
  }

  /** `chats` undefined listens to everything. Missed events and the subscription leave no gap between them. */
  const subscribe = (
    filter: { chats?: readonly string[]; since?: number },
    sink: Sink,
  ): Subscription => {
    const { chats, since } = filter
    const wanted = chats ? new Set(chats) : undefined
    const { missed, reset } =
      since === undefined
        ? { missed: [], reset: false }
        : missedSince(since, (emission) => wanted?.has(emission.chatId) ?? true)
    if (!wanted) everyone.add(sink)
    for (const chat of wanted ?? []) {
      const sinks = byChat.get(chat) ?? new Set()
      byChat.set(chat, sinks.add(sink))
    }
    const unsubscribe = () => {
      everyone.delete(sink)
      for (const chat of wanted ?? []) {
        const sinks = byChat.get(chat)
        sinks?.delete(sink)
        if (sinks?.size === 0) byChat.delete(chat)
      }
    }
    return { missed, reset, unsubscribe }
  }

  return {
    publish,
    subscribe,
    lastSeq: () => seq,
    /** How many sinks are attached: a gauge for health and tests. */
    subscribers: () => everyone.size + [...byChat.values()].reduce((sum, set) => sum + set.size, 0),
  }
}
