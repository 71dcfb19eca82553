/** The corpus as sleep looks at it: which records need a look, how they read, and how much of them is junk. */
import { type Clock, isoTime } from "../lib/clock.ts"
import { head } from "../lib/text.ts"
import type { CorpusRecord } from "../memory/consolidate.ts"
import type { Memories } from "../memory/memories.ts"
import type { MemoryRow } from "../memory/store/memory-table.ts"
import type { CorpusFigures } from "../schema/sleep.ts"
import { isRecent } from "./bench.ts"
import { isForgettable } from "./candidates.ts"

const PAGE = 500

export interface Ages {
  now: number
  keepRecentMs: number
  halfLifeMs: number
}

/** All records, page by page, others getting the thread between two. */
export async function wholeCorpus(
  memories: Pick<Memories, "corpus">,
  breathe: () => Promise<void>,
): Promise<CorpusRecord[]> {
  const all: CorpusRecord[] = []
  for (;;) {
    const page = memories.corpus(all.at(-1)?.row.id ?? 0, PAGE)
    for (const record of page) all.push(record)
    if (page.length < PAGE) return all
    await breathe()
  }
}

/** Changed since sleep has settled it, or too young then and not any more. */
export function needsLook(row: MemoryRow, ages: Ages): boolean {
  const { consolidated_at: settled, updated_at } = row
  if (settled === null || settled < updated_at) return true
  // What sleep itself has written is settled from the start.
  if (settled === updated_at) return false
  return isRecent(row, { ...ages, now: settled }) && !isRecent(row, ages)
}

/** `#12 fact, importance 3, from 2026-03-01, asked for 4 times, private: …`, on one line. */
export function lineOf(row: MemoryRow, ages: Ages, limit = Number.POSITIVE_INFINITY): string {
  const marks = [
    row.kind,
    `importance ${row.importance}`,
    `from ${isoTime(row.created_at).slice(0, 10)}`,
    ...(row.hits > 0 ? [`asked for ${row.hits} times`] : []),
    ...(row.private === 1 ? ["private"] : []),
    ...(isRecent(row, ages) ? ["recent"] : []),
  ]
  const content = row.content.replaceAll(/\s*\n\s*/g, " ⏎ ")
  return `#${row.id} ${marks.join(", ")}: ${head(content, limit)}`
}

/** A record whose every word another holds, in the same number: the later one is junk. */
export function figuresOf(records: readonly CorpusRecord[], ages: Ages): CorpusFigures {
  const seen = new Set<string>()
  let junk = 0
  for (const { row, stems } of records) {
    const words = `${row.private} ${[...stems].sort().join(" ")}`
    if (seen.has(words) || isForgettable(row, ages)) junk++
    seen.add(words)
  }
  return {
    memories: records.length,
    core: records.filter(({ row }) => row.kind === "core").length,
    junk_rate: records.length === 0 ? 0 : Math.round((junk / records.length) * 1e4) / 1e4,
  }
}

/** Lets timers and requests have the thread. */
export const breathe = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

export const agesOf = (
  clock: Clock,
  { keepRecentMs, halfLifeMs }: Pick<Ages, "keepRecentMs" | "halfLifeMs">,
): Ages => ({ now: clock.now(), keepRecentMs, halfLifeMs })
