/**
 * One open chat: its history, its live turns and what they are at. It reads history once, then draws what
 * the feed tells; a turn whose beginning the feed did not show is followed through `/live` to its end.
 */
import { settledWithin, sleep } from "../../lib/async.ts"
import type { Item } from "../../schema/item.ts"
import type { KernelClient } from "./kernel-client.ts"
import { type ItemEvent, readEvents, type WireEvent } from "./read-events.ts"
import type { LiveTurn, StateKey, TurnFailure } from "./session.ts"
import { messageIdOf, Timeline } from "./timeline.ts"

export interface ViewOptions {
  client: KernelClient
  chatId: string
  /** Items shown until now: unchanged ones stay the same objects. */
  before?: readonly Item[]
  onChange: (...keys: StateKey[]) => void
  /** History changed in a way that asks for a new view. */
  onStale: () => void
  /** Each event of a turn that is followed through `/live`: the feed does not tell them all. */
  onJoined?: (event: WireEvent) => void
  silenceMs?: number | undefined
}

/** Plain events whose item events say the same: this client needs the latter alone. */
export const MUTED =
  "text_delta,thinking_delta,tool_call,tool_result,tool_progress,image,turn_squeezed"

const PAGE = 50
const PAGE_MAX = 500
/** A turn is shown without what it answers rather than not at all. */
const SPEECH_WAIT_MS = 2000
const REJOIN_PAUSE_MS = 300

type Source = "feed" | "live"

export class ChatView {
  readonly chatId: string
  readonly #options: ViewOptions
  readonly #timeline: Timeline
  readonly #turns = new Map<string, LiveTurn>()
  /** Turns that ended while this view looked on: an older answer must not revive them. */
  readonly #over = new Set<string>()
  readonly #closed = new AbortController()
  #failures: readonly TurnFailure[] = []
  #turnList: readonly LiveTurn[] = []
  #activity: string | undefined
  #hasOlder = false
  #loaded = false
  /** The turn that is followed through `/live`, once its first event named it. */
  #joined: { turnId: string | undefined; toldEnd: boolean } | undefined
  #refreshing: Promise<void> = Promise.resolve()

  constructor(options: ViewOptions) {
    this.#options = options
    this.chatId = options.chatId
    this.#timeline = new Timeline(options.before)
  }

  items = (): readonly Item[] => this.#timeline.items()
  turns = (): readonly LiveTurn[] => this.#turnList
  failures = (): readonly TurnFailure[] => this.#failures
  activity = (): string | undefined => this.#activity
  hasOlder = (): boolean => this.#hasOlder
  close = (): void => this.#closed.abort()

  /** Reads what is there. Events may be handled before, meanwhile and after. */
  async load(): Promise<void> {
    const { client, before = [] } = this.#options
    // Turns first: one that is not live any more has all its items in what is read after.
    const turns = await client.generations()
    const messages = new Set(before.map((item) => messageIdOf(item.id))).size
    const limit = Math.min(PAGE_MAX, Math.max(PAGE, messages))
    const items = await client.items(this.chatId, { limit })
    this.#timeline.addStored(items)
    this.#hasOlder = items.length > 0
    for (const { id, chat_id, state } of turns) {
      if (chat_id !== this.chatId || this.#over.has(id) || this.#turns.has(id)) continue
      this.#turns.set(id, { id, state })
    }
    this.#listTurns()
    this.#loaded = true
    this.#joinUnseen()
    void this.#probeOlder().catch(() => undefined)
  }

  async loadOlder(): Promise<void> {
    const oldest = this.#timeline.oldestStored()
    if (!oldest) return
    const page = { before: oldest.id, limit: PAGE }
    const items = await this.#options.client.items(this.chatId, page)
    this.#timeline.addStored(items)
    this.#hasOlder = items.length > 0
    this.#options.onChange("items", "hasOlder")
  }

  /** The words that a turn answers are known without asking. */
  adopt(turnId: string, said: Item): void {
    if (!this.#timeline.hasSpeech(turnId)) {
      this.#timeline.addStored([{ ...said, turn_id: turnId }])
    }
    this.#timeline.hide(turnId, false)
    this.#options.onChange("items")
  }

  /** The stored message that an item of this chat is a part of; undefined when there is none. */
  async messageOf(itemId: string): Promise<string | undefined> {
    const item = this.items().find(({ id }) => id === itemId)
    const messageId = messageIdOf(itemId)
    if (!item || item.turn_id !== messageId) return messageId
    // A live item bears its turn's id; its place among its like is the same in history.
    const alike = (items: readonly Item[]) =>
      items.filter(({ turn_id, kind }) => turn_id === item.turn_id && kind === item.kind)
    const place = alike(this.items()).indexOf(item)
    const stored = await this.#options.client.items(this.chatId, { limit: PAGE_MAX })
    const twin = alike(stored)[place]
    return twin && messageIdOf(twin.id)
  }

  /** An event of this chat, from the feed. */
  handle(event: WireEvent, source: Source = "feed"): void {
    const turnId = event.turn_id
    switch (event.type) {
      case "messages_changed":
        this.#options.onStale()
        break
      case "message.silent":
        void this.#refresh()
        break
      case "accepted":
        if (turnId && !event.replayed) this.#accepted(turnId, event)
        break
      case "turn_started":
        if (turnId) this.#started(turnId)
        break
      case "item_started":
      case "item_delta":
      case "item_completed":
        if (turnId) this.#draw(turnId, event as unknown as ItemEvent, source)
        break
      case "done":
      case "error":
        if (turnId) this.#ended(turnId, event)
        break
      default: {
        const activity = activityOf(event)
        if (activity !== undefined) this.#setActivity(activity)
      }
    }
  }

  #accepted(turnId: string, event: WireEvent): void {
    this.#timeline.startRun(turnId)
    this.#over.delete(turnId)
    this.#failures = this.#failures.filter((failure) => failure.turnId !== turnId)
    this.#turns.set(turnId, { id: turnId, state: event.queued ? "queued" : "running" })
    this.#listTurns()
    this.#options.onChange("items", "failures")
    const messageIds = Array.isArray(event.message_ids) ? event.message_ids.map(String) : []
    if (!this.#timeline.hasSpeech(turnId)) void this.#awaitSpeech(turnId, messageIds)
  }

  /** Shows a turn together with what it answers. */
  async #awaitSpeech(turnId: string, messageIds: readonly string[]): Promise<void> {
    const [around] = messageIds
    if (around === undefined) return
    this.#timeline.hide(turnId, true)
    const limit = Math.min(PAGE_MAX, 2 * messageIds.length + 1)
    const reading = this.#options.client
      .items(this.chatId, { around, limit })
      .then((items) => this.#timeline.addStored(items))
    await settledWithin(reading, SPEECH_WAIT_MS)
    this.#timeline.hide(turnId, false)
    this.#options.onChange("items")
  }

  #started(turnId: string): void {
    if (this.#over.has(turnId) || this.#joined?.turnId === turnId) return
    // A turn that had waited until now has said nothing that could have been missed.
    if (!this.#timeline.isWhole(turnId)) this.#timeline.startRun(turnId)
    this.#turns.set(turnId, { id: turnId, state: "running" })
    this.#listTurns()
    this.#setActivity(undefined)
  }

  #draw(turnId: string, event: ItemEvent, source: Source): void {
    // What an operation does is told by the tool call that it serves.
    if ("item" in event && event.item.kind === "client_op") return
    const followed = source === "live" || this.#timeline.isWhole(turnId)
    if (!followed) {
      if (this.#loaded && this.#joined === undefined && !this.#over.has(turnId)) void this.#join()
      return
    }
    this.#timeline.draw(turnId, event)
    this.#options.onChange("items")
    if (event.type === "item_started") this.#setActivity(undefined)
  }

  #ended(turnId: string, event: WireEvent): void {
    this.#over.add(turnId)
    this.#turns.delete(turnId)
    this.#listTurns()
    this.#setActivity(undefined)
    if (event.type === "error" && !this.#failures.some((each) => each.turnId === turnId)) {
      this.#failures = [...this.#failures, failureOf(turnId, event)]
      this.#options.onChange("failures")
    }
    const isFollowed = this.#timeline.isWhole(turnId) || this.#joined?.turnId === turnId
    if (!isFollowed && this.#loaded) void this.#refresh()
  }

  #listTurns(): void {
    const waits = (turn: LiveTurn) => (turn.state === "queued" ? 1 : 0)
    this.#turnList = [...this.#turns.values()].sort((a, b) => waits(a) - waits(b))
    this.#options.onChange("turns")
  }

  /** The user asked for it; the kernel's own word is the turn's end. */
  markCancelling(): void {
    for (const turn of this.#turns.values()) {
      this.#turns.set(turn.id, { ...turn, state: "cancelling" })
    }
    this.#listTurns()
  }

  #setActivity(text: string | undefined): void {
    if (this.#activity === text) return
    this.#activity = text
    this.#options.onChange("activity")
  }

  /** Reads the newest page again. What was drawn of turns that are over gives way to it, unless it is whole. */
  #refresh(): Promise<void> {
    const run = async () => {
      const over = [...this.#over]
      const items = await this.#options.client.items(this.chatId, { limit: PAGE })
      for (const turnId of over) {
        if (!this.#timeline.isWhole(turnId)) this.#timeline.dropLive(turnId)
      }
      this.#timeline.addStored(items)
      this.#options.onChange("items")
    }
    this.#refreshing = this.#refreshing.then(run).catch(() => undefined)
    return this.#refreshing
  }

  async #probeOlder(): Promise<void> {
    const oldest = this.#timeline.oldestStored()
    if (!oldest) return
    const older = await this.#options.client.items(this.chatId, { before: oldest.id, limit: 1 })
    if (older.length > 0) return
    this.#hasOlder = false
    this.#options.onChange("hasOlder")
  }

  /** Turns that run and were not seen from their start. */
  #unseen = (): LiveTurn[] =>
    this.#turnList.filter(({ id, state }) => state !== "queued" && !this.#timeline.isWhole(id))

  #joinUnseen(): void {
    if (this.#unseen().length > 0) void this.#join()
  }

  /** Follows the running turn through `/live`: first what it said so far, then the rest. */
  async #join(): Promise<void> {
    if (this.#joined || this.#closed.signal.aborted) return
    const joined = { turnId: undefined, toldEnd: false }
    this.#joined = joined
    const leave = new AbortController()
    const signal = AbortSignal.any([leave.signal, this.#closed.signal])
    const { client, silenceMs } = this.#options
    try {
      const stream = await client.live(this.chatId, { mute: MUTED }, signal)
      const onEvent = (event: WireEvent) => this.#handleJoined(event, leave)
      if (stream) await readEvents(stream, { onEvent, signal, silenceMs })
    } catch {
      // The feed notices a lost kernel; what was missed is made good below or by a new view.
    }
    this.#joined = undefined
    if (this.#closed.signal.aborted) return
    if (this.#unseen().length > 0) await this.#recheck().catch(() => undefined)
    else if (joined.turnId !== undefined && !joined.toldEnd) await this.#refresh()
  }

  #handleJoined(event: WireEvent, leave: AbortController): void {
    const { turn_id: turnId } = event
    const joined = this.#joined
    if (turnId === undefined || !joined) return
    if (joined.turnId === undefined) {
      // It began after all while somebody looked on.
      if (this.#timeline.isWhole(turnId)) {
        leave.abort()
        return
      }
      joined.turnId = turnId
      this.#timeline.dropLive(turnId)
    }
    if (turnId !== joined.turnId) return
    joined.toldEnd = event.type === "done" || event.type === "error"
    this.#options.onJoined?.(event)
    this.handle(event, "live")
  }

  /** A turn could not be followed to its end: it is over by now, or is joined again. */
  async #recheck(): Promise<void> {
    await sleep(REJOIN_PAUSE_MS, this.#closed.signal)
    const live = new Set((await this.#options.client.generations()).map(({ id }) => id))
    const gone = this.#unseen().filter(({ id }) => !live.has(id))
    for (const { id } of gone) {
      this.#over.add(id)
      this.#turns.delete(id)
    }
    this.#listTurns()
    if (gone.length > 0) await this.#refresh()
    this.#joinUnseen()
  }
}

const failureOf = (turnId: string, event: WireEvent): TurnFailure => ({
  turnId,
  message: String(event.message ?? "the turn failed"),
  code: String(event.code ?? "internal"),
  retryable: event.retryable === true,
})

/** What a turn is at beside its items; undefined for an event that says nothing of it. */
function activityOf(event: WireEvent): string | undefined {
  switch (event.type) {
    case "retry": {
      const seconds = Math.round(Number(event.wait_ms) / 1000)
      return `${event.model} is asked again in ${seconds} s: ${event.reason}`
    }
    case "fallback":
      return `${event.to} takes over from ${event.from}: ${event.reason}`
    case "compacting":
      return "old history is being folded into a summary"
    case "sleeping":
      return "waiting until the kernel wakes"
    default:
      return undefined
  }
}
