/** Which records could be forgotten, by arithmetic alone. A model can only shorten this list. */

import { halfLifeOf } from "../memory/scoring.ts"
import type { MemoryRow } from "../memory/store/memory-table.ts"

/** So many half-lives unheard of: what is left of its weight is little more than the floor. */
const HALF_LIVES = 2
const IMPORTANCE_MAX = 2

export const isForgettable = (
  row: MemoryRow,
  { now, halfLifeMs }: { now: number; halfLifeMs: number },
): boolean =>
  row.kind !== "core" &&
  row.hits === 0 &&
  row.importance <= IMPORTANCE_MAX &&
  now - row.accessed_at >= HALF_LIVES * halfLifeOf(row.kind, halfLifeMs)
