/**
 * Ranks memories against a question. The parts of a score are kept, so that a person can be told why a
 * record was recalled:
 *
 *   own        words in common: BM25 over stems and their first letters, less where only common words of the
 *              question were met, best = 1; with a vector half of it, and half closeness
 *   context    what the lines before and after it in the same conversation have of their own, less with distance
 *   speaker    a line of somebody whom the question names
 *   relevance  own + context, × speaker, best at most 1
 *   score      relevance × decay × importance × frequency
 */
import { latinOf } from "../lib/latin.ts"
import { root } from "../lib/stems.ts"
import { Deck } from "./deck.ts"
import { closenessOf, type Weights, weightsOf } from "./scoring.ts"
import { dot } from "./signs.ts"
import type { Card, RecallReads } from "./store/recall-reads.ts"

/** So many records that share a word are looked at; what stands behind them has no chance. */
const LEXICAL_MAX = 400
/** For so many the words of the question that they hold are looked up one by one. */
const COVERAGE_MAX = 100
const COVERAGE_WEIGHT = 0.8
/** So many vectors are compared exactly, chosen by words and signs; of others the signs tell enough. */
const EXACT_VECTORS_MAX = 128
/** Common words of a long question bring nothing that its rarer ones do not: so many rows are weighed. */
const WEIGHED_ROWS = 1500
/** So many roots are remembered with their counts. */
const COUNTS_MAX = 10_000
/** What a record gains from those before it, nearest first, and from those behind it. */
const BEFORE_WEIGHTS = [0.5, 0.3, 0.2, 0.1]
const BEHIND_WEIGHTS = [0.3, 0.2, 0.1, 0.05]
const SPEAKER_BONUS = 1.25

export interface RecallQuery {
  /** Of the words that tell something. */
  stems: readonly string[]
  /** Of unit length, with the model that made it. */
  vector?: { model: string; unit: Float32Array } | undefined
  /** Only then private records exist. */
  seesPrivate: boolean
  /** Records that stand in every prompt, too. */
  withCore?: boolean
  /** Records about the same, whatever stands beside them. */
  alone?: boolean
  now: number
  halfLifeMs: number
  limit: number
}

export interface RecallHit extends Weights {
  id: number
  score: number
  relevance: number
  /** Words in common, 0…1. */
  lexical: number
  /** Of meaning, 0…1; undefined without vectors. */
  closeness: number | undefined
  /** It was found through its neighbours alone. */
  contextOnly: boolean
}

interface Own {
  lexical: number
  closeness: number | undefined
  value: number
}

export class RecallEngine {
  readonly #reads: RecallReads
  #deck: Deck | undefined
  /** In how many records each root stands, as far as it was asked since the last change. */
  #counts = new Map<string, number>()

  constructor(reads: RecallReads) {
    this.#reads = reads
  }

  /** These are new, changed or gone since the last question. */
  changed(ids: Iterable<number>): void {
    this.#deck?.refresh(ids)
    this.#counts.clear()
  }

  /** Best first. `core` is never among them. */
  find(query: RecallQuery): RecallHit[] {
    this.#deck ??= new Deck(this.#reads)
    const deck = this.#deck
    const own = this.#own(deck, query)
    const hits: RecallHit[] = []
    const named = new Set(query.stems)
    for (const [id, relevance] of withContext(deck, own, query)) {
      const card = deck.card(id)!
      const part = own.get(id)
      hits.push({
        id,
        score: 0,
        relevance: relevance * (speaks(card, named) ? SPEAKER_BONUS : 1),
        lexical: part?.lexical ?? 0,
        closeness: query.vector ? (part?.closeness ?? 0) : undefined,
        contextOnly: part === undefined,
        ...weightsOf(card, query.now, query.halfLifeMs),
      })
    }
    return scored(hits).slice(0, query.limit)
  }

  #own(deck: Deck, query: RecallQuery): Map<number, Own> {
    const lexical = this.#lexical(deck, query)
    const own = new Map<number, Own>()
    if (!query.vector) {
      for (const [id, value] of lexical)
        own.set(id, { lexical: value, closeness: undefined, value })
      return own
    }
    const { model, unit } = query.vector
    const seen = deck.signs(model, unit.length).compare(unit)
    const near = seen.nearest(EXACT_VECTORS_MAX, (id) => isOpen(deck.card(id), query))
    const value = (id: number, closeness: number) => ((lexical.get(id) ?? 0) + closeness) / 2
    const rough = [...new Set([...lexical.keys(), ...near])]
      .map((id) => {
        const closeness = closenessOf(seen.cosine(id))
        return { id, closeness, value: value(id, closeness) }
      })
      .sort((a, b) => b.value - a.value)
    for (const [index, { id, ...guess }] of rough.entries()) {
      const isExact = index < EXACT_VECTORS_MAX
      const closeness = isExact ? this.#closeness(id, query.vector) : guess.closeness
      const part = { lexical: lexical.get(id) ?? 0, closeness, value: value(id, closeness) }
      if (part.value > 0) own.set(id, part)
    }
    return own
  }

  #closeness(id: number, { model, unit }: { model: string; unit: Float32Array }): number {
    const vector = this.#reads.vector(id, model)
    return vector?.length === unit.length ? closenessOf(dot(vector, unit)) : 0
  }

  /** Words in common, the best of all as 1. */
  #lexical(deck: Deck, query: RecallQuery): Map<number, number> {
    const found = new Map<number, number>()
    if (query.stems.length === 0) return found
    const stems = query.stems.map((each) => this.#knownForm(each))
    const counts = new Map([...new Set(stems.map(root))].map((each) => [each, this.#countOf(each)]))
    const roots = tellingRoots(counts)
    const { seesPrivate, withCore = false } = query
    const rows = this.#reads.lexical({
      stems: stems.filter((stem) => roots.has(root(stem))),
      ...{ roots: [...roots], seesPrivate, withCore, limit: LEXICAL_MAX },
    })
    const rarity = rarityOf(counts, deck.size)
    let best = 0
    for (const [index, { id, score }] of rows.entries()) {
      if (!deck.card(id)) continue
      const covered = index < COVERAGE_MAX ? this.#coverage(id, rarity) : 0
      const value = score * (1 - COVERAGE_WEIGHT + COVERAGE_WEIGHT * covered)
      found.set(id, value)
      best = Math.max(best, value)
    }
    if (best > 0) for (const [id, value] of found) found.set(id, value / best)
    return found
  }

  /** A Russian word that stands nowhere may stand there in Latin letters, as names of products do. */
  #knownForm(stem: string): string {
    if (this.#countOf(root(stem)) > 0) return stem
    const latin = latinOf(stem)
    return latin !== undefined && this.#countOf(root(latin)) > 0 ? latin : stem
  }

  #countOf(each: string): number {
    const known = this.#counts.get(each)
    if (known !== undefined) return known
    const count = this.#reads.rootCount(each)
    if (this.#counts.size < COUNTS_MAX) this.#counts.set(each, count)
    return count
  }

  /** Share of the question's words that the record holds, by what they tell. */
  #coverage(id: number, rarity: ReadonlyMap<string, number>): number {
    const held = new Set(this.#reads.rootsOf(id).split(" "))
    let [met, all] = [0, 0]
    for (const [each, weight] of rarity) {
      all += weight
      if (held.has(each)) met += weight
    }
    return all > 0 ? met / all : 0
  }
}

const speaks = ({ speaker }: Card, named: ReadonlySet<string>): boolean =>
  speaker?.split(" ").some((name) => named.has(name)) ?? false

/** The rarest words whose rows together are not too many; one at least. */
function tellingRoots(counts: ReadonlyMap<string, number>): Set<string> {
  const telling = new Set<string>()
  let rows = 0
  for (const [each, count] of [...counts].sort((a, b) => a[1] - b[1])) {
    rows += count
    if (telling.size > 0 && rows > WEIGHED_ROWS) break
    telling.add(each)
  }
  return telling
}

/** How much each word of the question tells: the rarer the more. Words that stand nowhere tell nothing. */
function rarityOf(counts: ReadonlyMap<string, number>, total: number): Map<string, number> {
  const rarity = new Map<string, number>()
  for (const [each, count] of counts) {
    if (count > 0) rarity.set(each, Math.log(1 + (total - count + 0.5) / (count + 0.5)))
  }
  return rarity
}

type Audience = Pick<RecallQuery, "seesPrivate" | "withCore" | "alone">

const isOpen = (card: Card | undefined, { seesPrivate, withCore }: Audience): boolean =>
  card !== undefined && (withCore || card.kind !== "core") && (seesPrivate || card.private === 0)

/** What each has of its own, and its neighbours' share of theirs. Neighbours count by the same audience. */
function withContext(
  deck: Deck,
  own: ReadonlyMap<number, Own>,
  audience: Audience,
): Map<number, number> {
  const total = new Map<number, number>()
  const add = (id: number, value: number) => total.set(id, (total.get(id) ?? 0) + value)
  for (const [id, { value }] of own) {
    const card = deck.card(id)
    if (!card) continue
    add(id, value)
    if (audience.alone) continue
    const lend = (weights: readonly number[], direction: 1 | -1): void => {
      for (const [index, weight] of weights.entries()) {
        const other = deck.neighbour(card, direction * (index + 1))
        if (!other || !isOpen(other, audience)) continue
        // Without a source it is not known to be the same conversation: that finds nothing new.
        if (other.source !== null || own.has(other.id)) add(other.id, value * weight)
      }
    }
    // What stands before a record lends to it: seen from there, it stands behind.
    lend(BEFORE_WEIGHTS, 1)
    lend(BEHIND_WEIGHTS, -1)
  }
  return total
}

function scored(hits: RecallHit[]): RecallHit[] {
  const best = hits.reduce((most, { relevance }) => Math.max(most, relevance), 1)
  for (const hit of hits) {
    hit.relevance /= best
    hit.score = hit.relevance * hit.decay * hit.importance * hit.frequency
  }
  return hits.sort((a, b) => b.score - a.score || b.id - a.id)
}
