/** What the operations of one phase are checked against and work with, and the rules that hold for all of them. */

import { stems } from "../lib/stems.ts"
import type { Memories } from "../memory/memories.ts"
import type { MemoryRow } from "../memory/store/memory-table.ts"
import type { Change } from "./store.ts"

export interface Limits {
  /** What is left of the night. */
  ops: number
  forgets: number
}

export interface Bench {
  memories: Pick<Memories, "row" | "add" | "put" | "merge" | "forget">
  /** Records as the model saw them: no other may be named. */
  shown: ReadonlyMap<number, MemoryRow>
  /** Private records were shown beside public ones: what is written must stay private. */
  mixed: boolean
  limits: Limits
  changes: Change[]
  now: number
  keepRecentMs: number
  halfLifeMs: number
  /** Most characters of all core records together. */
  coreChars: number
  /** Of the core records, as they stand. */
  coreUsed(): number
}

/** An operation that is not carried out, in words for the journal. */
export class Refusal extends Error {
  override readonly name = "Refusal"
}

/** The record as it stands. Throws Refusal unless it was shown and is what was shown. */
export function target({ memories, shown }: Bench, id: number): MemoryRow {
  const seen = shown.get(id)
  if (!seen) throw new Refusal(`record ${id} was not shown`)
  const row = memories.row(id)
  if (!row) throw new Refusal(`record ${id} is gone`)
  const same =
    row.content === seen.content && row.kind === seen.kind && row.private === seen.private
  if (!same) throw new Refusal(`record ${id} has changed meanwhile`)
  return row
}

/** Younger than it may be touched; the age is that of the words. */
export const isRecent = (row: MemoryRow, at: { now: number; keepRecentMs: number }): boolean =>
  at.now - Math.max(row.created_at, row.updated_at) < at.keepRecentMs

/** Throws Refusal for what is too young to be rewritten or forgotten. */
export function refuseRecent(bench: Bench, rows: readonly MemoryRow[]): void {
  const young = rows.find((row) => isRecent(row, bench))
  if (young) throw new Refusal(`record ${young.id} is younger than sleep.memory.keep_recent`)
}

/** Where private records were shown, nothing is written that is not private. Throws Refusal. */
export function refuseWider({ mixed }: Bench, sources: readonly MemoryRow[]): void {
  if (!mixed || sources.some((row) => row.private === 1)) return
  throw new Refusal("private records were shown: a public one is not written from them")
}

/** Of a record's words a new wording holds so many at least. */
const KEPT_WORDS = 1 / 4

/** Throws Refusal when the text has nothing to do with a record that it is to stand for. */
export function refuseUnsaid(content: string, rows: readonly MemoryRow[]): void {
  if (content.trim() === "") throw new Refusal("the content is empty")
  const said = new Set(stems(content))
  for (const row of rows) {
    const own = new Set(stems(row.content))
    const kept = [...own].filter((stem) => said.has(stem)).length
    if (kept < own.size * KEPT_WORDS) {
      throw new Refusal(`the content says too little of record ${row.id}`)
    }
  }
}

/** Throws Refusal when the night has let go of as many as it may. */
export function takeForget({ limits }: Bench): void {
  if (limits.forgets <= 0) throw new Refusal(FORGET_LIMIT)
  limits.forgets--
}

export const OPS_LIMIT = "sleep.memory.max_ops is reached"
export const FORGET_LIMIT = "sleep.memory.max_forget is reached"
