/**
 * Forgetting. A record first goes to the archive, out of reach of every search and prompt, and can come back.
 * What is erased is gone from the table, the index, the vectors and the archive in one transaction, and its
 * bytes from the file: SQLite overwrites what it frees, and the log of changes is emptied behind it.
 */
import { sleep } from "../lib/async.ts"
import type { Clock } from "../lib/clock.ts"
import { notFound } from "../lib/error.ts"
import type { Log } from "../lib/log.ts"
import type { Memory } from "../schema/memory.ts"
import type { Store } from "../store/open.ts"
import { toMemory } from "./record.ts"
import type { ArchiveTable } from "./store/archive-table.ts"
import type { MemoryTable } from "./store/memory-table.ts"

export interface ForgetReason {
  by: "tool" | "api" | "sleep"
  reason?: string
}

export interface ForgettingOptions {
  store: Store
  clock: Clock
  log: Log
  table: MemoryTable
  archive: ArchiveTable
  /** Tells after the commit that these changed. */
  changed(ids: readonly number[]): void
  /** In the transaction that erases a record: whoever keeps something of it erases that, too. */
  erased?: ((id: number) => void) | undefined
}

export type Forgetting = ReturnType<typeof createForgetting>

export function createForgetting(options: ForgettingOptions) {
  const { store, clock, table, archive, changed } = options

  /** To the archive. Throws not_found. */
  const forget = (id: number, { by, reason }: ForgetReason): Memory =>
    store.write(() => {
      const row = table.find(id)
      if (!row) throw notFound("memory", String(id))
      table.remove(id)
      archive.insert({
        ...row,
        archived_at: clock.now(),
        archived_by: by,
        reason: reason ?? null,
      })
      changed([id])
      return toMemory(row)
    })

  /** Back from the archive, under the id it had. Throws not_found. */
  const restore = (id: number): Memory =>
    store.write(() => {
      const row = archive.find(id)
      if (!row) throw notFound("archived memory", String(id))
      archive.remove(id)
      table.insert(row)
      changed([id])
      return toMemory(row)
    })

  /** For good, wherever the record is. Settles when its bytes have left the file. Throws not_found. */
  const purge = async (id: number): Promise<void> => {
    store.write(() => {
      const known = table.find(id) !== undefined
      if (known) table.remove(id)
      if (!archive.remove(id) && !known) throw notFound("memory", String(id))
      options.erased?.(id)
      changed([id])
    })
    await emptyLog(options)
  }

  /** Erases what was archived before this moment; how many. */
  const purgeArchived = async (before: number): Promise<number> => {
    const gone = store.write(() => archive.removeBefore(before))
    if (gone > 0) await emptyLog(options)
    return gone
  }

  return { forget, restore, purge, purgeArchived }
}

const ATTEMPTS = 20
const BETWEEN_MS = 50

/** Pages as they were before stand in the WAL until it is emptied; a reader may hold it for a moment. */
async function emptyLog({ store, log }: ForgettingOptions): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (store.emptyLog()) return
    await sleep(BETWEEN_MS)
  }
  log.warn("old pages stay in the write-ahead log until the next checkpoint: a reader holds it")
}
