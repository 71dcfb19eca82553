/** The search over everything that was said, in all chats. */
import type { Clock } from "../lib/clock.ts"
import type { Log } from "../lib/log.ts"
import type { HistoryPage, HistoryQuery } from "../schema/history-search.ts"
import type { Store } from "../store/open.ts"
import { createIndexer } from "./indexer.ts"
import { needleOf } from "./needle.ts"
import { createSearchThread } from "./search.ts"
import { createIndexTable } from "./store/index-table.ts"

export interface HistoryOptions {
  store: Store
  clock: Clock
  log: Log
}

export interface HistoryAnswer extends HistoryPage {
  /** Some messages were not in the index yet and may be missing. */
  behind: boolean
}

export interface History {
  /** Messages were stored; cheap, their indexing waits for a quiet moment. */
  note(): void
  /**
   * Newest first, over all that was stored before the call. Throws KernelError("invalid") for what cannot be
   * searched for, "unavailable" when the kernel stops.
   */
  search(query: HistoryQuery): Promise<HistoryAnswer>
  /** Takes the traces of erased messages out of the index. */
  sweep(): Promise<void>
  close(): Promise<void>
}

/** So long a search waits for the index after much was said, or after an upgrade. */
const CATCH_UP_MAX_MS = 10_000

export function createHistory({ store, clock, log }: HistoryOptions): History {
  const indexer = createIndexer({ store, clock, log, table: createIndexTable(store.db) })
  const thread = createSearchThread(store.path)
  return {
    note: indexer.note,
    search: async (query) => {
      // What is wrong is told before anything is done.
      needleOf(query.query, query.match)
      const isComplete = await indexer.catchUp(CATCH_UP_MAX_MS)
      if (!isComplete) indexer.note()
      return { ...(await thread.find(query)), behind: !isComplete }
    },
    sweep: indexer.sweep,
    close: async () => {
      indexer.close()
      await thread.close()
    },
  }
}
