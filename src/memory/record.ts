/** A row as the record that people and programs get. */
import { isoTime } from "../lib/clock.ts"
import type { ArchivedMemory, Memory, MemoryHit } from "../schema/memory.ts"
import type { RecallHit } from "./recall-engine.ts"
import type { ArchivedRow } from "./store/archive-table.ts"
import type { MemoryRow } from "./store/memory-table.ts"

export const toMemory = (row: MemoryRow): Memory => ({
  id: row.id,
  kind: row.kind,
  importance: row.importance,
  private: row.private === 1,
  content: row.content,
  source: row.source,
  hits: row.hits,
  created_at: isoTime(row.created_at),
  updated_at: isoTime(row.updated_at),
  accessed_at: isoTime(row.accessed_at),
})

export const toArchived = (row: ArchivedRow): ArchivedMemory => ({
  ...toMemory(row),
  archived_at: isoTime(row.archived_at),
  archived_by: row.archived_by,
  reason: row.reason,
})

export const toHit = (row: MemoryRow, hit: RecallHit): MemoryHit => ({
  ...toMemory(row),
  score: hit.score,
  why: toWhy(hit),
})

export const toWhy = (hit: RecallHit): MemoryHit["why"] => ({
  relevance: hit.relevance,
  lexical: hit.lexical,
  closeness: hit.closeness ?? null,
  context_only: hit.contextOnly,
  decay: hit.decay,
  importance: hit.importance,
  frequency: hit.frequency,
})

const MINUTE_MS = 60_000
const AGES = [
  ["y", 365 * 24 * 60 * MINUTE_MS],
  ["mo", 30 * 24 * 60 * MINUTE_MS],
  ["d", 24 * 60 * MINUTE_MS],
  ["h", 60 * MINUTE_MS],
  ["min", MINUTE_MS],
] as const

/** `id | kind | age | importance | content`, on one line. The age is that of its words. */
export function lineOf(memory: MemoryRow, now: number): string {
  const content = memory.content.replaceAll(/\s*\n\s*/g, " ⏎ ")
  const { id, kind, importance, updated_at } = memory
  return `${id} | ${kind} | ${ageOf(now - updated_at)} | ${importance} | ${content}`
}

/** `3d`, `5mo`: by the largest unit that fits. */
function ageOf(ms: number): string {
  for (const [unit, size] of AGES) if (ms >= size) return `${Math.floor(ms / size)}${unit}`
  return "now"
}
