/**
 * Puts what was said into the index, in small steps behind everything else: in a quiet moment, or at once when
 * somebody searches. No step holds the event loop for longer than a few milliseconds.
 */
import { sleep } from "../lib/async.ts"
import type { Clock } from "../lib/clock.ts"
import { errorText } from "../lib/error.ts"
import { tryParseJson } from "../lib/json.ts"
import type { Log } from "../lib/log.ts"
import type { Block } from "../schema/message.ts"
import type { Store } from "../store/open.ts"
import { fold } from "./fold.ts"
import { indexedText } from "./indexed-text.ts"
import { saidIn } from "./said.ts"
import type { IndexTable, PendingRow } from "./store/index-table.ts"

/** Without a new message for so long, it is quiet. */
const QUIET_MS = 400
/** So many new messages are not left for a quiet moment. */
const NOTED_MAX = 20_000
/** Between two steps others get their turn. */
const PAUSE_MS = 2
/** Of one step: messages, and characters of stored JSON after which no further one is taken. */
const STEP_MESSAGES = 10
const STEP_CHARS = 8_000
/** A step of a merge: four pages took 1 ms, 12 ms at worst. */
const MERGE_PAGES = 4

export interface IndexerOptions {
  store: Store
  clock: Clock
  log: Log
  table: IndexTable
}

export interface Indexer {
  /** There is something new; told after or within the transaction that stores it. */
  note(): void
  /** Indexes what waits, at most for so long; false when some is left. */
  catchUp(limitMs: number): Promise<boolean>
  /** Takes the traces of erased messages out of the index, when there are any. */
  sweep(): Promise<void>
  close(): void
}

export function createIndexer(options: IndexerOptions): Indexer {
  const { clock, log } = options
  let timer: Timer | undefined
  let notedAt = 0
  let noted = 0
  let closed = false

  const plan = (ms: number): void => {
    if (closed || timer) return
    timer = setTimeout(work, ms)
    timer.unref()
  }
  /** One step, then the next one, until there is nothing to do. */
  const work = (): void => {
    timer = undefined
    const quietFor = clock.monotonic() - notedAt
    const isQuiet = quietFor >= QUIET_MS || noted >= NOTED_MAX
    try {
      if (!isQuiet) plan(QUIET_MS - quietFor)
      else if (indexSome(options) || mergeSome(options)) plan(PAUSE_MS)
      else noted = 0
    } catch (error) {
      // What waits goes on waiting; the next message or search tries again.
      log.warn("the index of history falls behind", { error: errorText(error) })
    }
  }

  return {
    note: () => {
      notedAt = clock.monotonic()
      noted++
      plan(QUIET_MS)
    },
    catchUp: async (limitMs) => {
      const end = clock.monotonic() + limitMs
      while (!closed && indexSome(options)) {
        if (clock.monotonic() >= end) return false
        await sleep(PAUSE_MS)
      }
      return true
    },
    sweep: async () => {
      if (!options.table.sweepDue()) return
      // First, so that what is erased from here on asks for another sweep.
      options.store.write(() => options.table.sweepDone())
      let pages = -MERGE_PAGES
      while (!closed && options.store.write(() => options.table.merge(pages))) {
        pages = MERGE_PAGES
        await sleep(PAUSE_MS)
      }
    },
    close: () => {
      closed = true
      clearTimeout(timer)
    },
  }
}

/** False when nothing waits. */
function indexSome({ store, table }: IndexerOptions): boolean {
  const rows = table.waiting(STEP_MESSAGES)
  if (rows.length === 0) return false
  store.write(() => {
    let chars = 0
    for (const row of rows) {
      if (chars > STEP_CHARS) break
      chars += row.blocks.length
      table.add(row, foldedTexts(row))
    }
  })
  return true
}

const mergeSome = ({ store, table }: IndexerOptions): boolean =>
  store.write(() => table.merge(MERGE_PAGES))

/** A damaged message says nothing: the search must live on beside it. */
function foldedTexts({ blocks }: PendingRow): { speech: string; service: string } {
  const parsed = tryParseJson(blocks)?.value
  const { speech, service } = saidIn(Array.isArray(parsed) ? (parsed as Block[]) : [])
  return { speech: indexedText(fold(speech)), service: indexedText(fold(service)) }
}
