/**
 * The conversation as a window over a long list of items. Nothing outside the window is drawn, so a chat of
 * two thousand messages opens as fast as an empty one. The window follows the end until its reader scrolls;
 * then its first line stays where it is, whatever arrives below.
 */
import type { MarkdownTheme } from "@earendil-works/pi-tui"
import type { Item } from "../../../schema/item.ts"
import { createFolds, type Folds } from "./folds.ts"
import { isFoldable, isOneLine } from "./item-view.ts"
import { createLineCache, itemKey, type LineCache } from "./line-cache.ts"
import type { Theme } from "./theme.ts"

export interface TranscriptContent {
  items: readonly Item[]
  /** Turns that wait for an earlier one. */
  queuedTurns: ReadonlySet<string>
  /** Lines behind the last item of a turn: how it failed. */
  afterTurn: ReadonlyMap<string, readonly string[]>
}

/** A line of the list: the n-th line of an item's block. */
interface Place {
  index: number
  line: number
}

interface Row {
  text: string
  index: number
}

export class Transcript {
  readonly folds: Folds = createFolds()
  private readonly cache: LineCache
  private content: TranscriptContent = {
    items: [],
    queuedTurns: new Set(),
    afterTurn: new Map(),
  }
  private width = 80
  private height = 20
  /**
   * The window's first line. By key, since older items come in before it; `start` is the first one there is,
   * whatever comes in before; undefined follows the end.
   */
  private top: { key: string; line: number } | "start" | undefined
  private rows: readonly Row[] = []
  private selectedKey: string | undefined

  constructor(theme: Theme, markdown: MarkdownTheme) {
    this.cache = createLineCache(theme, markdown)
  }

  setContent(content: TranscriptContent): void {
    this.content = content
  }

  /** Another conversation: folds, place and lines of the one before are gone. */
  reset(): void {
    this.top = undefined
    this.selectedKey = undefined
    this.folds.clear()
    this.cache.clear()
  }

  /** Exactly `height` lines. A conversation shorter than the window stands at its foot. */
  render(width: number, height: number): string[] {
    this.width = width
    this.height = height
    if (height <= 0) return []
    const top = this.place()
    const below = top && this.rowsFrom(top)
    // Whoever scrolled back to the last line follows the end again.
    if (below && below.length > height) this.rows = below.slice(0, height)
    else {
      this.top = undefined
      this.rows = this.lastRows()
    }
    const padding = Array<string>(height - this.rows.length).fill("")
    return [...padding, ...this.rows.map(({ text }) => text)]
  }

  get isFollowing(): boolean {
    return this.top === undefined
  }

  /** Whether the window shows the first item there is: time to ask for older ones. */
  get isAtStart(): boolean {
    return (this.rows[0]?.index ?? 0) === 0
  }

  scrollBy(lines: number): void {
    const start = this.place() ?? this.placeOfRow(0)
    if (start === undefined || lines === 0) return
    this.setTop(lines < 0 ? this.upFrom(start, -lines) : this.downFrom(start, lines))
  }

  scrollPage(direction: -1 | 1): void {
    this.scrollBy(direction * Math.max(1, this.height - 2))
  }

  toStart(): void {
    this.top = "start"
  }

  toEnd(): void {
    this.top = undefined
  }

  /** The item drawn at a row of the window. */
  itemAt(row: number): Item | undefined {
    const shown = this.rows[row - (this.height - this.rows.length)]
    return shown && this.content.items[shown.index]
  }

  get selected(): Item | undefined {
    return this.content.items.find((item) => itemKey(item) === this.selectedKey)
  }

  clearSelection(): void {
    this.selectedKey = undefined
  }

  /** Moves the reading cursor to the next foldable item, from the window's edge when there is none yet. */
  select(direction: -1 | 1): void {
    const { items } = this.content
    const current = items.findIndex((item) => itemKey(item) === this.selectedKey)
    const edge = direction < 0 ? (this.rows.at(-1)?.index ?? 0) + 1 : (this.rows[0]?.index ?? 0) - 1
    let index = (current < 0 ? edge : current) + direction
    while (items[index] && !isFoldable(items[index]!)) index += direction
    const found = items[index]
    if (found === undefined) return
    this.selectedKey = itemKey(found)
    if (!this.rows.some((row) => row.index === index)) this.setTop({ index, line: 0 })
  }

  private setTop(place: Place): void {
    const item = this.content.items[place.index]
    this.top = item && { key: itemKey(item), line: place.line }
  }

  private place(): Place | undefined {
    const { top } = this
    if (top === undefined) return undefined
    if (top === "start") return { index: 0, line: 0 }
    const index = this.content.items.findIndex((item) => itemKey(item) === top.key)
    if (index < 0) return undefined
    return { index, line: Math.min(top.line, this.block(index).length - 1) }
  }

  private placeOfRow(row: number): Place | undefined {
    const first = this.rows[row]
    if (first === undefined) return undefined
    const shown = this.rows.filter(({ index }) => index === first.index).length
    return { index: first.index, line: Math.max(0, this.block(first.index).length - shown) }
  }

  private upFrom({ index, line }: Place, count: number): Place {
    let at = index
    let rest = line - count
    while (rest < 0 && at > 0) rest += this.block(--at).length
    return { index: at, line: Math.max(0, rest) }
  }

  private downFrom({ index, line }: Place, count: number): Place {
    let at = index
    let rest = line + count
    const last = this.content.items.length - 1
    for (let size = this.block(at).length; rest >= size && at < last; ) {
      rest -= size
      size = this.block(++at).length
    }
    return { index: at, line: rest }
  }

  /** The rows from a place on: more than the window holds, or all that there are. */
  private rowsFrom({ index, line }: Place): Row[] {
    const rows = this.rowsOf(index).slice(line)
    for (let at = index + 1; rows.length <= this.height && at < this.content.items.length; at++)
      rows.push(...this.rowsOf(at))
    return rows
  }

  private lastRows(): Row[] {
    const blocks: Row[][] = []
    let count = 0
    for (let at = this.content.items.length - 1; at >= 0 && count < this.height; at--) {
      const rows = this.rowsOf(at)
      count += rows.length
      blocks.push(rows)
    }
    return blocks.reverse().flat().slice(-this.height)
  }

  private rowsOf(index: number): Row[] {
    return this.block(index).map((text) => ({ text, index }))
  }

  /** An item's lines with the gap before it and the end of its turn behind it. */
  private block(index: number): readonly string[] {
    const { items, queuedTurns, afterTurn } = this.content
    const item = items[index]
    if (item === undefined) return []
    const [before, after] = [items[index - 1], items[index + 1]]
    const lines = this.cache.linesOf(item, {
      width: this.width,
      open: this.folds.isOpen(item),
      waiting: waitingOf(item, queuedTurns),
      selected: itemKey(item) === this.selectedKey,
    })
    const together = before && isOneLine(before) && isOneLine(item) && !this.folds.isOpen(before)
    const isLastOfTurn = item.turn_id !== null && after?.turn_id !== item.turn_id
    const end = isLastOfTurn ? (afterTurn.get(item.turn_id ?? "") ?? []) : []
    return [...(index === 0 || together ? [] : [""]), ...lines, ...end]
  }
}

function waitingOf(item: Item, queued: ReadonlySet<string>): "no" | "queued" | "unsent" {
  if (item.kind !== "user_message") return "no"
  if (item.id.startsWith("local:")) return "unsent"
  return item.turn_id !== null && queued.has(item.turn_id) ? "queued" : "no"
}
