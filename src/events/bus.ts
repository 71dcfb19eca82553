/**
 * The bus of live events: gives each its kernel-wide number, keeps a bounded log to resume from, and hands
 * it to subscribers at once. It never waits for anybody; a subscriber that falls behind is the stream's care.
 */
import type { Clock } from "../lib/clock.ts"
import { errorText } from "../lib/error.ts"
import type { Log } from "../lib/log.ts"
import type { ChatEvent, TurnEvent } from "../schema/event.ts"
import { createEventLog } from "./event-log.ts"

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
  log: Log
  /** How many events, and how many UTF-16 units of JSON, the log holds at the most. */
  maxEvents?: number
  maxChars?: number
}

const MAX_EVENTS = 20_000
const MAX_CHARS = 8 * 1024 * 1024

/** More than this in a millisecond, on average over a life, would outrun the start of the next life. */
const EVENTS_PER_MS = 1000

interface Subscriber {
  sink: Sink
  /** Undefined listens to everything. */
  chats: ReadonlySet<string> | undefined
  /** Events up to this one are not for it: it came later, or got them as missed. */
  after: number
}

export type Bus = ReturnType<typeof createBus>

export function createBus(options: BusOptions) {
  const { clock, log, maxEvents = MAX_EVENTS, maxChars = MAX_CHARS } = options
  const past = createEventLog<Emission>({ maxEvents, maxChars })
  const audience = createAudience(log)
  // A start from the clock keeps numbers increasing over restarts without a write for each event.
  let seq = clock.now() * EVENTS_PER_MS

  /** Events that belong together: all have their number before anybody hears the first. */
  const publishAll = (
    chatId: string,
    events: readonly (TurnEvent | ChatEvent)[],
    turnId?: string,
  ): void => {
    const emissions = events.map((event): Emission => {
      const json = JSON.stringify({ ...event, seq: ++seq, chat_id: chatId, turn_id: turnId })
      return { seq, chatId, turnId, type: event.type, json }
    })
    for (const emission of emissions) past.add(emission)
    audience.tell(emissions)
  }

  /** `chats` undefined listens to everything. Missed events and the subscription leave no gap between them. */
  const subscribe = (
    filter: { chats?: readonly string[]; since?: number },
    sink: Sink,
  ): Subscription => {
    const { since } = filter
    const chats = filter.chats && new Set(filter.chats)
    const missed = since === undefined || since === seq ? [] : since < seq && past.after(since)
    const unsubscribe = audience.add({ sink, chats, after: seq })
    if (!missed) return { missed: [], reset: true, unsubscribe }
    const wanted = missed.filter(({ chatId }) => chats?.has(chatId) ?? true)
    return { missed: wanted, reset: false, unsubscribe }
  }

  return {
    publish: (chatId: string, event: TurnEvent | ChatEvent, turnId?: string): void =>
      publishAll(chatId, [event], turnId),
    publishAll,
    subscribe,
    lastSeq: () => seq,
    /** How many listen: a gauge for health and tests. */
    subscribers: audience.size,
  }
}

/** Who listens, by chat, so that an event of one chat costs nothing to the listeners of others. */
function createAudience(log: Log) {
  const everyone = new Set<Subscriber>()
  const byChat = new Map<string, Set<Subscriber>>()
  const untold: Emission[] = []
  let size = 0

  const add = (subscriber: Subscriber): (() => void) => {
    const places = subscriber.chats ? [...subscriber.chats] : undefined
    size++
    if (!places) everyone.add(subscriber)
    for (const chat of places ?? []) {
      byChat.set(chat, (byChat.get(chat) ?? new Set()).add(subscriber))
    }
    let gone = false
    return () => {
      if (gone) return
      gone = true
      size--
      everyone.delete(subscriber)
      for (const chat of places ?? []) {
        const listeners = byChat.get(chat)
        listeners?.delete(subscriber)
        if (listeners?.size === 0) byChat.delete(chat)
      }
    }
  }

  /** One that breaks is no reason for the others, or for whoever published, to fail. */
  const tellOne = ({ sink, after }: Subscriber, emission: Emission): void => {
    if (emission.seq <= after) return
    try {
      sink(emission)
    } catch (error) {
      log.error("a listener of events broke", { type: emission.type, error: errorText(error) })
    }
  }

  /** What a sink publishes waits until everybody has heard the event before it. */
  const tell = (emissions: readonly Emission[]): void => {
    const isTelling = untold.length > 0
    untold.push(...emissions)
    if (isTelling) return
    // An event stays in the list while it is told, which marks that somebody is telling.
    for (let next = untold[0]; next; untold.shift(), next = untold[0]) {
      for (const subscriber of everyone) tellOne(subscriber, next)
      for (const subscriber of byChat.get(next.chatId) ?? []) tellOne(subscriber, next)
    }
  }

  return { add, tell, size: () => size }
}
