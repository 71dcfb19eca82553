/** Takes a night back: every record that it touched is as it was before, unless somebody changed it since. */
import { KernelError, notFound } from "../lib/error.ts"
import type { Memories } from "../memory/memories.ts"
import type { MemoryRow } from "../memory/store/memory-table.ts"
import type { SleepUndone } from "../schema/sleep.ts"
import type { Store } from "../store/open.ts"
import type { Change, SleepStore } from "./store.ts"

export interface UndoParts {
  store: Pick<Store, "write">
  journal: SleepStore
  memories: Pick<Memories, "row" | "put" | "forget" | "restore" | "settle" | "isArchived">
  now(): number
}

/** One transaction. Throws KernelError: not_found, conflict for a night that is undone or that runs. */
export function undoNight(parts: UndoParts, runId: number): SleepUndone {
  const { store, journal, memories, now } = parts
  return store.write(() => {
    const run = journal.find(runId)
    if (!run) throw notFound("night", String(runId))
    if (run.undone_at !== null) throw new KernelError("conflict", "this night is undone already")
    if (run.state === "running") throw new KernelError("conflict", "this night is not over")
    const undone = new Set<number>()
    const skipped = new Set<number>()
    // Newest first: a record that was changed twice passes through both of its states.
    for (const change of journal.changesOf(runId)) {
      const { memoryId } = change
      if (skipped.has(memoryId)) continue
      if (takeBack(parts, change)) undone.add(memoryId)
      else skipped.add(memoryId)
    }
    for (const id of skipped) undone.delete(id)
    // The next night would only plan the same again.
    memories.settle(
      [...undone].filter((id) => memories.row(id)),
      now(),
    )
    journal.markUndone(runId, now())
    return { undone: undone.size, skipped: [...skipped].sort((a, b) => a - b) }
  })
}

/** False when the record is not as the night left it. */
function takeBack({ memories }: UndoParts, { memoryId, before, after }: Change): boolean {
  const row = memories.row(memoryId)
  if (after === null) {
    if (row || !memories.isArchived(memoryId)) return false
    memories.restore(memoryId)
    return true
  }
  if (!row || !isSame(row, after)) return false
  if (before === null) memories.forget(memoryId, { by: "sleep", reason: "the night was undone" })
  else memories.put(withHistory(before, { row, after }))
  return true
}

const isSame = (row: MemoryRow, left: MemoryRow): boolean =>
  row.content === left.content &&
  row.kind === left.kind &&
  row.importance === left.importance &&
  row.private === left.private

/** What the record was asked for since then is not lost. */
const withHistory = (
  before: MemoryRow,
  { row, after }: { row: MemoryRow; after: MemoryRow },
): MemoryRow => ({
  ...before,
  hits: before.hits + Math.max(0, row.hits - after.hits),
  accessed_at: row.accessed_at > after.accessed_at ? row.accessed_at : before.accessed_at,
})
