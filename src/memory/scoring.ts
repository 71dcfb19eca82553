/** The formula by which a memory is recalled: relevance × decay × importance × frequency. */
import type { MemoryKind } from "../schema/memory.ts"

/** What is left of a memory however old it is. */
const DECAY_FLOOR = 0.35
/** Events fade so much faster than facts. */
const EVENT_HASTE = 4
const MEAN_IMPORTANCE = 3
const FREQUENCY_MAX = 1.5
/** The cosine of two texts that have nothing in common, as embedding models give it. */
const COSINE_GROUND = 0.4

export interface Weights {
  /** 0.35 … 1, halving with each half-life since the record was last called to mind. */
  decay: number
  /** A third for 1, five thirds for 5. */
  importance: number
  /** 1 … 1.5, slowly growing with how often it was asked for. */
  frequency: number
}

export interface Weighed {
  kind: MemoryKind
  importance: number
  hits: number
  accessed_at: number
}

export function weightsOf(memory: Weighed, now: number, halfLifeMs: number): Weights {
  const ageMs = Math.max(0, now - memory.accessed_at)
  const halfLives = ageMs / halfLifeOf(memory.kind, halfLifeMs)
  return {
    decay: DECAY_FLOOR + (1 - DECAY_FLOOR) * 0.5 ** halfLives,
    importance: memory.importance / MEAN_IMPORTANCE,
    frequency: Math.min(1 + 0.1 * Math.log(1 + memory.hits), FREQUENCY_MAX),
  }
}

/** Half-life of a kind, from that of facts. */
export const halfLifeOf = (kind: MemoryKind, halfLifeMs: number): number =>
  Math.max(1, kind === "event" ? halfLifeMs / EVENT_HASTE : halfLifeMs)

/** The cosine as closeness 0…1: what any two texts share counts as nothing. */
export const closenessOf = (cosine: number): number =>
  Math.min(1, Math.max(0, (cosine - COSINE_GROUND) / (1 - COSINE_GROUND)))
