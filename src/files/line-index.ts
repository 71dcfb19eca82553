/**
 * Where the lines of a file stand. A file is counted once, in blocks; what is kept of it is one number for each
 * block, as long as the file stays the same.
 */
import type { FileHandle } from "node:fs/promises"
import type { LineSpan, LinesAt } from "./hands.ts"
import { factsOf, readFully } from "./local-read.ts"
import { COUNT_BLOCK_BYTES, type Scanner } from "./scanner.ts"

/** Files whose numbers are kept; those read last. */
const FILES_MAX = 32
/** Bytes counted by one request, so that a cancel is heard in between. */
const REQUEST_BYTES = 64 * COUNT_BLOCK_BYTES
const NEWLINE = 0x0a

export interface LinesOfFile extends LinesAt {
  path: string
  file: FileHandle
  signal: AbortSignal
}

export interface LineIndex {
  span(wanted: LinesOfFile): Promise<LineSpan>
}

interface Counted {
  stamp: string
  size: number
  /** Line ends before each block, and at last those of the whole file. */
  before: number[]
  /** The last line has no end. */
  open: boolean
}

export function createLineIndex(scanner: Pick<Scanner, "countNewlines">): LineIndex {
  const kept = new Map<string, Counted>()

  const counted = async ({ path, file, signal }: LinesOfFile): Promise<Counted> => {
    const { size, stamp } = await factsOf(file)
    const known = kept.get(path)
    kept.delete(path)
    const numbers = known?.stamp === stamp ? known : await countAll(file, { path, size, signal })
    kept.set(path, { ...numbers, stamp, size })
    if (kept.size > FILES_MAX) kept.delete(kept.keys().next().value!)
    return { ...numbers, stamp, size }
  }

  const countAll = async (
    file: FileHandle,
    { path, size, signal }: { path: string; size: number; signal: AbortSignal },
  ): Promise<Pick<Counted, "before" | "open">> => {
    const before = [0]
    for (let from = 0; from < size; from += REQUEST_BYTES) {
      signal.throwIfAborted()
      const to = Math.min(size, from + REQUEST_BYTES)
      const counts = await scanner.countNewlines({ path, from, to })
      for (const count of counts) before.push(before.at(-1)! + count)
    }
    const last = size > 0 ? await readFully(file, Buffer.alloc(1), size - 1) : undefined
    return { before, open: last !== undefined && last[0] !== NEWLINE }
  }

  return {
    span: async (wanted) => {
      const numbers = await counted(wanted)
      const { from, count } = wanted
      const start = await behindNewline(wanted.file, numbers, from - 1)
      const end = await behindNewline(wanted.file, numbers, from - 1 + count)
      return { start, end, total: numbers.before.at(-1)! + (numbers.open ? 1 : 0) }
    },
  }
}

/** The offset behind the nth line end; the end of the file when it has not that many. */
async function behindNewline(
  file: FileHandle,
  { before, size }: Counted,
  nth: number,
): Promise<number> {
  if (nth === 0) return 0
  if (nth > before.at(-1)!) return size
  const block = blockWith(before, nth)
  const at = block * COUNT_BLOCK_BYTES
  const bytes = Buffer.from(await readFully(file, Buffer.alloc(COUNT_BLOCK_BYTES), at))
  let found = -1
  for (let left = nth - before[block]!; left > 0; left--) {
    found = bytes.indexOf(NEWLINE, found + 1)
    // It shrank since it was counted.
    if (found < 0) return size
  }
  return at + found + 1
}

/** The block that holds the nth line end: the last one before which there are fewer. */
function blockWith(before: readonly number[], nth: number): number {
  let [low, high] = [0, before.length - 2]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (before[middle]! < nth) low = middle
    else high = middle - 1
  }
  return low
}
