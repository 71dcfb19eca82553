/**
 * Live snapshots of a running tool: thinned out, bounded, redacted. Each replaces the one before, so only
 * the newest matters and dropping one loses nothing.
 */
import { cleanText, tail } from "../lib/text.ts"
import { OUTPUT_LIMITS, type Redact } from "./output.ts"

export const PROGRESS_LIMITS = {
  /** At most four a second. */
  intervalMs: 250,
  /** Snapshots of one call. */
  count: 200,
  /** UTF-8 bytes of one snapshot, which is the tail of what the tool printed. */
  tailBytes: 8192,
} as const

export interface ProgressOptions {
  emit(output: string): void
  redact: Redact
  limits?: { intervalMs: number; count: number; tailBytes: number }
}

export interface Progress {
  /** Takes the whole snapshot; sends it now, later, or not at all when a newer one comes first. */
  push(output: string): void
  /** After this nothing is sent any more. */
  close(): void
}

export function createProgress(options: ProgressOptions): Progress {
  const limits = options.limits ?? PROGRESS_LIMITS
  let waiting: string | undefined
  let timer: Timer | undefined
  let left: number = limits.count

  const send = (output: string): void => {
    left--
    timer = setTimeout(next, limits.intervalMs)
    options.emit(snapshotOf(output, options.redact, limits.tailBytes))
  }
  const next = (): void => {
    timer = undefined
    if (waiting === undefined) return
    const output = waiting
    waiting = undefined
    send(output)
  }

  return {
    push: (output) => {
      if (left === 0) return
      if (timer) waiting = output
      else send(output)
    },
    close: () => {
      left = 0
      waiting = undefined
      clearTimeout(timer)
    },
  }
}

function snapshotOf(output: string, redact: Redact, bytes: number): string {
  const rough = tail(output, bytes + OUTPUT_LIMITS.seamChars)
  return tailBytes(redact(cleanText(rough)), bytes)
}

/** The longest suffix of at most `limit` UTF-8 bytes that starts on a character. */
function tailBytes(text: string, limit: number): string {
  const bytes = Buffer.from(tail(text, limit))
  if (bytes.length <= limit) return bytes.toString()
  let start = bytes.length - limit
  while (isContinuation(bytes[start])) start++
  return bytes.subarray(start).toString()
}

const isContinuation = (byte: number | undefined): boolean =>
  byte !== undefined && (byte & 0xc0) === 0x80
