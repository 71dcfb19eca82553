/**
 * What ranking needs to know of every memory, kept in memory: a card each without its text, the order within
 * each source, and the signs of vectors. It is read once and told which ids changed.
 */
import { SignMatrix } from "./signs.ts"
import type { Card, RecallReads } from "./store/recall-reads.ts"

/** Records of one source further apart in time than this belong to different occasions. */
const OCCASION_MS = 3600 * 1000

export class Deck {
  readonly #reads: RecallReads
  readonly #cards = new Map<number, Card>()
  /** Ids of each source, ascending. */
  readonly #sources = new Map<string, number[]>()
  #signs: { model: string; matrix: SignMatrix } | undefined

  constructor(reads: RecallReads) {
    this.#reads = reads
    for (const card of reads.cards()) this.#add(card)
  }

  get size(): number {
    return this.#cards.size
  }

  card(id: number): Card | undefined {
    return this.#cards.get(id)
  }

  /** Reads these again: they are new, changed or gone. */
  refresh(ids: Iterable<number>): void {
    for (const id of ids) {
      const card = this.#reads.card(id)
      if (!card) this.#remove(id)
      else if (this.#cards.has(id)) this.#cards.set(id, card)
      else this.#add(card)
      if (!this.#signs) continue
      const signs = card && this.#reads.signsOf(id, this.#signs.model)
      if (signs) this.#signs.matrix.set(id, signs)
      else this.#signs.matrix.delete(id)
    }
  }

  /** The signs of this model's vectors; those of another one are let go. */
  signs(model: string, dimensions: number): SignMatrix {
    if (this.#signs?.model === model) return this.#signs.matrix
    const matrix = new SignMatrix(dimensions)
    for (const row of this.#reads.signs(model)) matrix.set(row.memory_id, row.signs)
    this.#signs = { model, matrix }
    return matrix
  }

  /**
   * The line that stands `distance` behind (negative: before) this one in its source, when both are lines of
   * one conversation. What stands beside a fact tells nothing of it.
   */
  neighbour(card: Card, distance: number): Card | undefined {
    if (card.speaker === null) return undefined
    const ids = this.#sources.get(card.source ?? "")!
    const other = this.#cards.get(ids[positionOf(ids, card.id) + distance] ?? -1)
    if (!other?.speaker || Math.abs(other.created_at - card.created_at) > OCCASION_MS)
      return undefined
    return other
  }

  #add(card: Card): void {
    this.#cards.set(card.id, card)
    const key = card.source ?? ""
    const ids = this.#sources.get(key)
    if (!ids) this.#sources.set(key, [card.id])
    else ids.splice(positionOf(ids, card.id), 0, card.id)
  }

  #remove(id: number): void {
    const card = this.#cards.get(id)
    if (!card) return
    this.#cards.delete(id)
    const ids = this.#sources.get(card.source ?? "")!
    ids.splice(positionOf(ids, id), 1)
    if (ids.length === 0) this.#sources.delete(card.source ?? "")
  }
}

/** Where the id stands, or would stand, in an ascending list. */
function positionOf(ids: readonly number[], id: number): number {
  let [low, high] = [0, ids.length]
  // New ids are the largest, as a rule.
  if (high === 0 || ids[high - 1]! < id) return high
  while (low < high) {
    const middle = (low + high) >> 1
    if (ids[middle]! < id) low = middle + 1
    else high = middle
  }
  return low
}
