/**
 * What the user said and the kernel has not answered yet. Each message goes out under a key of its own, so
 * that it can be sent again after any failure without ever being stored twice; a turn that died with the
 * kernel is taken up again by the same means.
 */
import { keyedQueue, sleep } from "../../lib/async.ts"
import { type Clock, isoTime } from "../../lib/clock.ts"
import type { NewId } from "../../lib/id.ts"
import type { Item } from "../../schema/item.ts"
import { ClientError } from "./client-error.ts"
import type { KernelClient } from "./kernel-client.ts"
import { readEvents, type WireEvent } from "./read-events.ts"

/** Where a message goes: a chat, or a draft that becomes one. */
export interface Place {
  chatId: string | undefined
  /** The chat's id; makes the chat when there is none yet. */
  resolve: () => Promise<string>
}

export interface Named {
  place: Place
  chatId: string
  turnId: string
  /** The words as an item of history; undefined when the kernel did not say under which id it stored them. */
  said: Item | undefined
}

export interface OutboxOptions {
  client: KernelClient
  clock: Clock
  newKey: NewId
  /** This client carries out operations on its machine. */
  hasHands: boolean
  /** The echoes changed. */
  onChange: () => void
  /** A message got its turn, maybe for the second time. */
  onNamed: (named: Named) => void
  silenceMs?: number | undefined
}

interface Outgoing {
  key: string
  text: string
  place: Place
  saidAt: string
  echo: Item | undefined
  /** How many messages of history said the same when this one was said: one more is this one itself. */
  twins: number
  turnId: string | undefined
  /** How often its turn was taken up again. */
  resumed: number
  /** On its way: the kernel may have it already. */
  isPosting: boolean
  /** Fires when its user takes it back. */
  withdrawn: AbortController
}

const RETRY_MS = [200, 500, 1000, 2000, 4000] as const
/** A turn that takes the kernel with it each time must not do so for ever. */
const RESUMED_MAX = 2
/** Far more than can end while one reply is on its way. */
const ENDED_MAX = 100
const MUTED = ["text_delta", "thinking_delta", "tool_call", "tool_result", "tool_progress"]
/** The client also finds project files for the kernel (action `list_up`). */
const HANDS = { client_ops: true, project_docs: true } as const
const MUTED_ITEMS = ["image", "item_started", "item_delta", "item_completed", "usage"]

export class Outbox {
  readonly #options: OutboxOptions
  readonly #queue = keyedQueue<Place>()
  readonly #closed = new AbortController()
  #wake = new AbortController()
  /** Not confirmed yet, in the order in which they were said. */
  readonly #waiting = new Set<Outgoing>()
  /** Confirmed, by turn, until the turn is over. */
  readonly #running = new Map<string, Outgoing>()
  /** Turns whose end came lately: the feed may tell of it before the reply that names the turn is read. */
  readonly #ended = new Set<string>()

  constructor(options: OutboxOptions) {
    this.#options = options
  }

  /**
   * Resolves when the kernel has it; rejects with what it refused it for. `shown` are the items that the
   * user has before him.
   */
  send(place: Place, text: string, shown: readonly Item[] = []): Promise<void> {
    const { clock, newKey } = this.#options
    const key = newKey()
    const saidAt = isoTime(clock.now())
    const out: Outgoing = {
      ...{ key, text, place, saidAt, turnId: undefined, resumed: 0, isPosting: false },
      withdrawn: new AbortController(),
      twins: twinsIn(shown, text),
      echo: saidItem({ id: `local:${key}`, status: "running", text, saidAt }),
    }
    this.#waiting.add(out)
    this.#options.onChange()
    return this.#queue.run(place, () => this.#deliver(out))
  }

  /**
   * Own words at this place that the kernel has not confirmed. What is in history already, because it was
   * read before the kernel's word came, is not among them.
   */
  echoes = (place: Place, shown: readonly Item[]): Item[] =>
    [...this.#waiting].flatMap(({ echo, twins, text, ...out }) =>
      echo && isSamePlace(out.place, place) && twinsIn(shown, text) <= twins ? echo : [],
    )

  /**
   * Takes back what was said last at this place and is not on its way to the kernel; its words, or undefined
   * when there is nothing of the kind.
   */
  withdraw(place: Place): string | undefined {
    const out = [...this.#waiting].findLast(
      (waiting) => isSamePlace(waiting.place, place) && !waiting.isPosting && waiting.echo,
    )
    if (!out) return undefined
    this.#waiting.delete(out)
    out.withdrawn.abort()
    this.#options.onChange()
    return out.text
  }

  /** The kernel is there again: nobody waits any longer. */
  retry(): void {
    this.#wake.abort()
    this.#wake = new AbortController()
  }

  over(turnId: string): void {
    this.#running.delete(turnId)
    this.#ended.add(turnId)
    const oldest = this.#ended.values().next()
    if (this.#ended.size > ENDED_MAX && !oldest.done) this.#ended.delete(oldest.value)
  }

  /** After a restart of the kernel: turns of ours that neither ended nor live are taken up again. */
  resume(live: ReadonlySet<string>): void {
    for (const [turnId, out] of this.#running) {
      if (live.has(turnId)) continue
      this.#running.delete(turnId)
      if (out.resumed++ >= RESUMED_MAX) continue
      void this.#queue.run(out.place, () => this.#deliver(out)).catch(() => undefined)
    }
  }

  close = (): void => this.#closed.abort()

  async #deliver(out: Outgoing): Promise<void> {
    try {
      for (let failures = 0; !this.#closed.signal.aborted; failures++) {
        if (out.withdrawn.signal.aborted) return
        out.isPosting = true
        const error = await this.#post(out).catch((error: unknown) => error)
        out.isPosting = false
        if (error === undefined) return
        if (!(error instanceof ClientError && error.passes)) throw error
        const pause = RETRY_MS[Math.min(failures, RETRY_MS.length - 1)]!
        const ends = [this.#wake.signal, this.#closed.signal, out.withdrawn.signal]
        await sleep(pause, AbortSignal.any(ends))
      }
      throw new ClientError("usage", "this client was closed before the kernel was back")
    } finally {
      this.#waiting.delete(out)
      this.#options.onChange()
    }
  }

  async #post(out: Outgoing): Promise<void> {
    const { client, silenceMs, hasHands } = this.#options
    const { text, key, place } = out
    const chatId = await place.resolve()
    const leave = new AbortController()
    const signal = AbortSignal.any([leave.signal, this.#closed.signal])
    const mute = [...MUTED, ...MUTED_ITEMS]
    const body = { text, client_key: key, trusted: true, mute, ...(hasHands && HANDS) }
    const stream = await client.send(chatId, body, signal)
    let named = false
    await readEvents(stream, {
      signal,
      silenceMs,
      onEvent: (event) => {
        if (event.turn_id === undefined || named) return
        named = true
        const isOver = event.type === "done" || event.type === "error"
        this.#named(out, { chatId, turnId: event.turn_id, isOver, messageId: messageIn(event) })
        // The feed tells the rest.
        leave.abort()
      },
    })
    if (!named) throw new ClientError("unreachable", "the kernel went away before it answered")
  }

  #named(
    out: Outgoing,
    turn: { chatId: string; turnId: string; isOver: boolean; messageId: string | undefined },
  ): void {
    const { chatId, turnId, isOver, messageId } = turn
    const { text, saidAt, place } = out
    out.turnId = turnId
    out.echo = undefined
    this.#waiting.delete(out)
    for (const other of this.#waiting) {
      if (other.text === text && isSamePlace(other.place, place)) other.twins++
    }
    if (!isOver && !this.#ended.has(turnId)) this.#running.set(turnId, out)
    const id = `${messageId}:0`
    const said = messageId && saidItem({ id, status: "completed", text, saidAt })
    this.#options.onNamed({ place, chatId, turnId, said: said || undefined })
    this.#options.onChange()
  }
}

/** Two drafts are different places; two views of one chat are one. */
const isSamePlace = (a: Place, b: Place): boolean =>
  a === b || (a.chatId !== undefined && a.chatId === b.chatId)

const twinsIn = (shown: readonly Item[], text: string): number =>
  shown.filter((item) => item.kind === "user_message" && item.text === text).length

function messageIn({ message_ids: ids }: WireEvent): string | undefined {
  const first: unknown = Array.isArray(ids) ? ids[0] : undefined
  return typeof first === "string" ? first : undefined
}

function saidItem(said: {
  id: string
  status: "running" | "completed"
  text: string
  saidAt: string
}): Item {
  const { id, status, text, saidAt } = said
  return { id, status, turn_id: null, kind: "user_message", text, master: true, created_at: saidAt }
}
