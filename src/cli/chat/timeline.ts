/**
 * The items of one chat, out of two sources that overlap: history, read by pages, and the live stream.
 * They are kept apart by turn, since all messages of a turn stand together, and joined when looked at, so
 * that nothing shows twice whatever order things come in.
 */
import type { Item } from "../../schema/item.ts"
import type { ItemEvent } from "./read-events.ts"

interface Segment {
  /** The turn's id, or the message's when it belongs to none. Their order is the order of the chat. */
  readonly key: string
  /** From history, in order. */
  stored: Item[]
  /** From the live stream of the turn's present run, in order. */
  live: Item[]
  /** The run is followed from its beginning: history adds to it only what people said. */
  fromStart: boolean
  /** Not shown before it is known what the turn answers. */
  hidden: boolean
  /** What of `stored` has no twin in `live`; undefined when that must be worked out again. */
  rest: Item[] | undefined
}

export class Timeline {
  readonly #known: ReadonlyMap<string, Item>
  readonly #segments = new Map<string, Segment>()
  #shown: readonly Item[] | undefined

  /** `before` are items shown until now: those that did not change stay the same objects. */
  constructor(before: readonly Item[] = []) {
    this.#known = new Map(before.map((item) => [item.id, item]))
  }

  /** Oldest first; the same array as long as nothing changed. */
  items(): readonly Item[] {
    this.#shown ??= [...this.#segments.values()]
      .filter((at) => !at.hidden)
      .sort((a, b) => (a.key < b.key ? -1 : 1))
      .flatMap(viewOf)
    return this.#shown
  }

  /** A page of history: newer, older or the same again. */
  addStored(items: readonly Item[]): void {
    for (const [key, group] of Map.groupBy(items, segmentKey)) {
      const at = this.#segment(key)
      const wanted = at.fromStart ? group.filter(isSpeech) : group
      this.#change(at, { stored: this.#merged(at.stored, wanted), rest: undefined })
    }
  }

  /** A run of the turn begins; nothing of it is missed from here on. */
  startRun(turnId: string): void {
    this.#change(this.#segment(turnId), { live: [], fromStart: true, rest: undefined })
  }

  /** Forgets what was followed of a turn, since it will be told anew or read from history. */
  dropLive(turnId: string): void {
    this.#change(this.#segment(turnId), { live: [], fromStart: false, rest: undefined })
  }

  hide(turnId: string, hidden: boolean): void {
    this.#change(this.#segment(turnId), { hidden })
  }

  draw(turnId: string, event: ItemEvent): void {
    const at = this.#segment(turnId)
    drawInto(at, event)
    this.#change(at, {})
  }

  /** Whether the turn's present run was seen from its beginning. */
  isWhole(turnId: string): boolean {
    return this.#segments.get(turnId)?.fromStart === true
  }

  /** Whether it is known what the turn answers. */
  hasSpeech(turnId: string): boolean {
    return this.#segments.get(turnId)?.stored.some(isSpeech) === true
  }

  /** From where older pages are read: the first item of history. */
  oldestStored(): Item | undefined {
    const stored = [...this.#segments.values()].filter((at) => at.stored.length > 0)
    const [first, ...others] = stored
    return others.reduce((a, b) => (a && a.key < b.key ? a : b), first)?.stored[0]
  }

  #segment(key: string): Segment {
    const found = this.#segments.get(key)
    if (found) return found
    const fresh = {
      ...{ key, stored: [], live: [], rest: undefined },
      ...{ fromStart: false, hidden: false },
    }
    this.#segments.set(key, fresh)
    return fresh
  }

  #change(at: Segment, to: Partial<Segment>): void {
    Object.assign(at, to)
    this.#shown = undefined
  }

  #merged(old: readonly Item[], fresh: readonly Item[]): Item[] {
    const byId = new Map(old.map((item) => [item.id, item]))
    for (const item of fresh) {
      const before = byId.get(item.id) ?? this.#known.get(item.id)
      byId.set(item.id, before && isEqual(before, item) ? before : item)
    }
    return [...byId.values()].sort(inHistory)
  }
}

/** The message that an item of history is a part of. */
export const messageIdOf = (itemId: string): string => itemId.replace(/:\d+$/, "")

const segmentKey = (item: Item): string => item.turn_id ?? messageIdOf(item.id)

/** What stands in history before the model says anything: words of people and notes of the kernel. */
const isSpeech = (item: Item): boolean =>
  item.kind === "user_message" || item.kind === "machine_note" || item.kind === "compaction"

function drawInto(at: Segment, event: ItemEvent): void {
  if (event.type === "item_delta") {
    const index = at.live.findLastIndex((item) => item.id === event.id)
    const item = at.live[index]
    if (item) at.live[index] = grown(item, event.delta)
    return
  }
  const index = at.live.findLastIndex((item) => item.id === event.item.id)
  if (index < 0) at.live.push(event.item)
  else at.live[index] = event.item
  at.rest = undefined
}

function grown(item: Item, delta: Extract<ItemEvent, { type: "item_delta" }>["delta"]): Item {
  const { text, progress, tasks } = delta
  if (item.kind === "plan") return tasks === undefined ? item : { ...item, tasks }
  if (item.kind === "tool_call") return progress === undefined ? item : { ...item, progress }
  if (text === undefined || (item.kind !== "agent_message" && item.kind !== "thinking")) return item
  return { ...item, text: item.text + text }
}

function viewOf(at: Segment): readonly Item[] {
  if (at.live.length === 0) return at.stored
  at.rest ??= withoutTwins(at.stored, at.live)
  return [...at.rest, ...at.live]
}

/** Live items win over their twins in history: the same call, the same picture, the same words. */
function withoutTwins(stored: readonly Item[], live: readonly Item[]): Item[] {
  const marks = new Map<string, number>()
  for (const item of live) {
    const mark = markOf(item)
    if (mark !== undefined) marks.set(mark, (marks.get(mark) ?? 0) + 1)
  }
  const growing = live.at(-1)
  const newest = stored.at(-1)
  const ahead = growing && newest && isBeginningOf(growing, newest) ? newest : undefined
  return stored.filter((item) => {
    const mark = markOf(item)
    const twins = mark === undefined ? 0 : (marks.get(mark) ?? 0)
    if (mark === undefined || twins === 0) return item !== ahead
    marks.set(mark, twins - 1)
    return false
  })
}

function markOf(item: Item): string | undefined {
  switch (item.kind) {
    case "tool_call":
      return `call ${item.call_id}`
    case "image":
      return `image ${item.image_id}`
    case "agent_message":
    case "thinking":
      return `${item.kind} ${item.text}`
    default:
      return undefined
  }
}

/** History may be ahead of the live stream by the last piece of an answer. */
function isBeginningOf(live: Item, stored: Item): boolean {
  if (live.kind !== "agent_message" && live.kind !== "thinking") return false
  const isGrowing = live.status === "running" && live.text !== ""
  return isGrowing && stored.kind === live.kind && stored.text.startsWith(live.text)
}

const isEqual = (a: Item, b: Item): boolean => JSON.stringify(a) === JSON.stringify(b)

/** `{message_id}:{n}`: by message, then by number. */
function inHistory(a: Item, b: Item): number {
  const first = messageIdOf(a.id)
  const second = messageIdOf(b.id)
  if (first !== second) return first < second ? -1 : 1
  return Number(a.id.slice(first.length + 1)) - Number(b.id.slice(second.length + 1))
}
