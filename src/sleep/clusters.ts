/**
 * Records that belong together: by their words or by meaning. Only what is near an open record is looked at, so
 * a night after a quiet day compares little.
 */
import { jaccard } from "../lib/stems.ts"
import type { CorpusRecord } from "../memory/consolidate.ts"
import { dot, signsOf } from "../memory/signs.ts"

export interface ClusterSettings {
  jaccard: number
  cosine: number
  maxSize: number
}

interface Edge {
  a: number
  b: number
  weight: number
}

/** A stem that more records hold brings nobody together. */
const COMMON = 400
/** Of the signs of two vectors as close as wanted, so many more than expected may differ. */
const SIGNS_SLACK = 0.13
/** Ties kept of one record, the strongest, for each place in a group: where all is alike, all ties are too many. */
const TIES_PER_PLACE = 2
/** Between two looks at the event loop. */
const BREATH_RECORDS = 4

export interface ClusterRequest {
  records: readonly CorpusRecord[]
  isOpen(record: CorpusRecord): boolean
  settings: ClusterSettings
  /** Lets others have the thread. */
  breathe(): Promise<void>
  signal: AbortSignal
}

/** Groups of two and more with an open record among them, each in the order of ids. */
export async function clustersOf(request: ClusterRequest): Promise<CorpusRecord[][]> {
  const { records, isOpen, settings, breathe, signal } = request
  const near = createNearness(records, settings)
  const edges: Edge[] = []
  const seen = new Set<number>()
  const waiting = records.flatMap((record, index) => (isOpen(record) ? [index] : []))
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (seen.has(next)) continue
    seen.add(next)
    if (seen.size % BREATH_RECORDS === 0) await breathe()
    if (signal.aborted) return []
    for (const edge of near(next)) {
      edges.push(edge)
      if (!seen.has(edge.b)) waiting.push(edge.b)
    }
  }
  return grouped(edges, settings.maxSize)
    .map((members) => members.toSorted((a, b) => a - b).map((index) => records[index]!))
    .filter((members) => members.some(isOpen))
}

/** Strongest edges first, as long as a group stays within its size: so the weakest are cut. */
function grouped(edges: readonly Edge[], maxSize: number): number[][] {
  const groupOf = new Map<number, number[]>()
  const group = (index: number): number[] => {
    const own = groupOf.get(index) ?? [index]
    groupOf.set(index, own)
    return own
  }
  for (const { a, b } of edges.toSorted((x, y) => y.weight - x.weight || x.a - y.a || x.b - y.b)) {
    const one = group(a)
    const other = group(b)
    if (one === other || one.length + other.length > maxSize) continue
    one.push(...other)
    for (const index of other) groupOf.set(index, one)
  }
  return [...new Set(groupOf.values())].filter((members) => members.length > 1)
}

/** The edges of one record. */
function createNearness(records: readonly CorpusRecord[], settings: ClusterSettings) {
  const holders = new Map<string, number[]>()
  for (const [index, { stems }] of records.entries()) {
    for (const stem of stems) {
      const list = holders.get(stem)
      if (list) list.push(index)
      else holders.set(stem, [index])
    }
  }
  const signs = records.map(({ vector }) => vector && signsOf(vector))
  return (index: number): Edge[] => {
    const own = records[index]!
    const weights = new Map<number, number>()
    const sharing = new Set<number>()
    for (const stem of own.stems) {
      const list = holders.get(stem)!
      if (list.length <= COMMON) for (const other of list) sharing.add(other)
    }
    for (const other of sharing) {
      const shared = jaccard(own.stems, records[other]!.stems)
      if (shared >= settings.jaccard) weights.set(other, shared)
    }
    for (const [other, cosine] of closeTo(index, { records, signs, least: settings.cosine })) {
      weights.set(other, Math.max(weights.get(other) ?? 0, cosine))
    }
    weights.delete(index)
    const edges = [...weights].map(([b, weight]) => ({ a: index, b, weight }))
    const most = TIES_PER_PLACE * settings.maxSize
    if (edges.length <= most) return edges
    return edges.sort((x, y) => y.weight - x.weight || x.b - y.b).slice(0, most)
  }
}

/** By meaning. The signs of the vectors say cheaply which cannot be near. */
function closeTo(
  index: number,
  at: {
    records: readonly CorpusRecord[]
    signs: readonly (Uint32Array | undefined)[]
    least: number
  },
): [number, number][] {
  const { records, signs, least } = at
  const vector = records[index]!.vector
  const own = signs[index]
  if (!vector || !own) return []
  const differing = (Math.acos(Math.min(1, least)) / Math.PI + SIGNS_SLACK) * vector.length
  const found: [number, number][] = []
  for (const [other, theirs] of signs.entries()) {
    if (!theirs || other === index || distance(own, theirs) > differing) continue
    const cosine = dot(vector, records[other]!.vector!)
    if (cosine >= least) found.push([other, cosine])
  }
  return found
}

function distance(a: Uint32Array, b: Uint32Array): number {
  let differing = 0
  for (let i = 0; i < a.length; i++) differing += bits(a[i]! ^ (b[i] ?? 0))
  return differing
}

function bits(word: number): number {
  let x = word - ((word >>> 1) & 0x55555555)
  x = (x & 0x33333333) + ((x >>> 2) & 0x33333333)
  return Math.imul((x + (x >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}
