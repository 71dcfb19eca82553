/**
 * What tidying needs of the memory: the whole corpus as it stands, records merged into one, and a mark for
 * what is settled. Who decides and within which limits is not known here.
 */
import type { Clock } from "../lib/clock.ts"
import { KernelError, notFound } from "../lib/error.ts"
import type { MemoryKind } from "../schema/memory.ts"
import type { Store } from "../store/open.ts"
import type { ForgetReason, Forgetting } from "./forget.ts"
import type { MemoryRow, MemoryTable, NewMemoryRow } from "./store/memory-table.ts"
import type { RecallReads } from "./store/recall-reads.ts"

export interface ConsolidationOptions {
  store: Store
  clock: Clock
  table: MemoryTable
  reads: RecallReads
  forgetting: Pick<Forgetting, "forget">
  /** Of the active embedding model. */
  vector(id: number): Float32Array | undefined
  /** Tells after the commit that these changed. */
  changed(ids: readonly number[]): void
}

/** A record with what it is compared by. */
export interface CorpusRecord {
  row: MemoryRow
  stems: ReadonlySet<string>
  /** Of unit length; absent without one of the active model. */
  vector: Float32Array | undefined
}

export interface Merge {
  ids: readonly number[]
  /** Says what all of them say. */
  content: string
  kind: MemoryKind
  importance: number
  reason: ForgetReason
}

export type Consolidation = ReturnType<typeof createConsolidation>

export function createConsolidation(options: ConsolidationOptions) {
  const { table, reads, vector, store, changed } = options
  return {
    /** Records behind `after` in the order of their ids, private ones too: for the kernel's own work only. */
    corpus: (after: number, limit: number): CorpusRecord[] =>
      table.after(after, limit).map((row) => ({
        row,
        stems: new Set(reads.stemsOf(row.id).split(" ")),
        vector: vector(row.id),
      })),
    /** All as they are stored, in the order of their ids. */
    rows: (): MemoryRow[] => table.after(0, Number.MAX_SAFE_INTEGER),
    /** As it is stored. */
    row: (id: number): MemoryRow | undefined => table.find(id),
    /** Stores it as it is; its id. */
    add: (row: NewMemoryRow): number =>
      store.write(() => {
        const id = table.insert(row)
        changed([id])
        return id
      }),
    /** Makes the record what this row says, times and history too. Throws not_found. */
    put: (row: MemoryRow): void =>
      store.write(() => {
        const before = table.find(row.id)
        if (!before) throw notFound("memory", String(row.id))
        table.update(row, before)
        changed([row.id])
      }),
    merge: (merge: Merge): number => store.write(() => mergeInto(options, merge)),
    /** These need no look until they change. */
    settle: (ids: readonly number[], at: number): void =>
      store.write(() => {
        for (const id of ids) table.settle(id, at)
        changed(ids)
      }),
  }
}

/**
 * The one asked for most often stays, under its id; what the others were asked for is added to it. A merge
 * with a private record is private. The others go to the archive. Gives the id that stays; throws not_found.
 */
function mergeInto(options: ConsolidationOptions, merge: Merge): number {
  const { table, clock, forgetting, changed } = options
  const rows = [...new Set(merge.ids)].map((id) => {
    const row = table.find(id)
    if (!row) throw notFound("memory", String(id))
    return row
  })
  const [kept, ...others] = rows.toSorted((a, b) => b.hits - a.hits || a.id - b.id)
  if (!kept || others.length === 0) {
    throw new KernelError("invalid", "a merge takes two records at least", { path: "ids" })
  }
  const sum = (value: (row: MemoryRow) => number) =>
    rows.reduce((total, row) => total + value(row), 0)
  for (const { id } of others) forgetting.forget(id, merge.reason)
  table.update(
    {
      ...kept,
      content: merge.content,
      kind: merge.kind,
      importance: merge.importance,
      private: rows.some((row) => row.private === 1) ? 1 : 0,
      hits: sum(({ hits }) => hits),
      created_at: Math.min(...rows.map(({ created_at }) => created_at)),
      accessed_at: Math.max(...rows.map(({ accessed_at }) => accessed_at)),
      updated_at: clock.now(),
      consolidated_at: clock.now(),
    },
    kept,
  )
  changed(rows.map(({ id }) => id))
  return kept.id
}
