/**
 * Saving without repeating: a record that says the same is reinforced, and what stands near is shown, since
 * the moment of saving is the only one at which a contradiction can be seen.
 */
import { jaccard, queryStems, root, stems } from "../lib/stems.ts"
import type { MemoryKind } from "../schema/memory.ts"
import type { MemoryRow, MemoryTable, NewMemoryRow } from "./store/memory-table.ts"
import type { RecallReads } from "./store/recall-reads.ts"

/** So much of both wordings must be common for them to say the same. */
const SAME_JACCARD = 0.7
const CANDIDATES = 20

export interface Draft {
  content: string
  kind: MemoryKind
  importance: number
  private: boolean
  source: string | null
  createdAt: number
}

export const rowOf = (draft: Draft): NewMemoryRow => ({
  kind: draft.kind,
  importance: draft.importance,
  private: draft.private ? 1 : 0,
  content: draft.content,
  source: draft.source,
  hits: 0,
  created_at: draft.createdAt,
  updated_at: draft.createdAt,
  accessed_at: draft.createdAt,
})

/** The record that says the same, among those that this audience may know of. */
export function findSame(
  reads: RecallReads,
  draft: Draft,
  seesPrivate: boolean,
): number | undefined {
  const asked = queryStems(draft.content)
  if (asked.length === 0) return undefined
  const wanted = new Set(stems(draft.content))
  const candidates = reads.lexical({
    stems: asked,
    roots: [...new Set(asked.map(root))],
    ...{ seesPrivate, withCore: true, limit: CANDIDATES },
  })
  let best: { id: number; likeness: number } | undefined
  for (const { id } of candidates) {
    const said = new Set(reads.stemsOf(id).split(" "))
    const likeness = jaccard(wanted, said)
    if (likeness < SAME_JACCARD || contradict(wanted, said)) continue
    if (!best || likeness > best.likeness) best = { id, likeness }
  }
  return best?.id
}

const NEGATIONS: readonly string[] = [
  "not",
  "no",
  "never",
  "don",
  "doesn",
  "isn",
  "не",
  "нет",
  "никогд",
]

/** Much the same words with other numbers, or with a "not" on one side only, are no repetition. */
function contradict(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  const negated = (all: ReadonlySet<string>) => NEGATIONS.some((word) => all.has(word))
  const numbers = (all: ReadonlySet<string>) => [...all].filter((word) => /\d/.test(word))
  if (negated(a) !== negated(b)) return true
  return numbers(a).some((word) => !b.has(word)) && numbers(b).some((word) => !a.has(word))
}

/** The record said once more: the more detailed wording stays, and what is private stays so. */
export function reinforced(row: MemoryRow, draft: Draft, now: number): MemoryRow {
  const fuller = stems(draft.content).length > stems(row.content).length
  return {
    ...row,
    content: fuller ? draft.content : row.content,
    kind: draft.kind === "core" ? "core" : row.kind,
    importance: Math.max(row.importance, draft.importance),
    private: draft.private ? 1 : row.private,
    hits: row.hits + 1,
    updated_at: fuller ? now : row.updated_at,
    accessed_at: Math.max(row.accessed_at, now),
  }
}

/** Looks for the record that says the same, and stores one or the other. Runs inside a transaction. */
export function saveOnce(
  parts: { table: MemoryTable; reads: RecallReads },
  draft: Draft,
  at: { seesPrivate: boolean; now: number },
): { id: number; merged: boolean } {
  const { table, reads } = parts
  const same = findSame(reads, draft, at.seesPrivate)
  const row = same === undefined ? undefined : table.find(same)
  if (!row) return { id: table.insert(rowOf(draft)), merged: false }
  table.update(reinforced(row, draft, at.now), row)
  return { id: row.id, merged: true }
}
