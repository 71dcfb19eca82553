/**
 * A thread that counts the line ends of files, so that a large one does not hold up the event loop. It starts
 * with the first request and ends when none came for a while.
 */
import { deferred } from "../lib/async.ts"
import { ToolFailure } from "../tools/tool.ts"

/** Line ends are counted for blocks of this size. */
export const COUNT_BLOCK_BYTES = 1024 * 1024

export const SCANNER_LIMITS = {
  /** For one request: a piece of a file, never all of it. */
  requestMs: 20_000,
  idleMs: 60_000,
} as const

export interface FilePart {
  path: string
  /** Bytes, from a multiple of the block's size. */
  from: number
  to: number
}

/** Line ends in each block, or why they could not be counted. */
export type ScanReply = { counts: Uint32Array } | { failed: string }

export interface Scanner {
  /** Line ends in each block. */
  countNewlines(part: FilePart): Promise<Uint32Array>
  close(): void
}

interface Waiting {
  resolve(reply: ScanReply): void
  reject(error: unknown): void
  timer: ReturnType<typeof setTimeout>
}

const OVER_TIME = "looking through this part of the file took too long"

export function createScanner(): Scanner {
  const waiting = new Map<number, Waiting>()
  let worker: Worker | undefined
  let idle: ReturnType<typeof setTimeout> | undefined
  let lastId = 0

  const stop = (reason: string): void => {
    clearTimeout(idle)
    worker?.terminate()
    worker = undefined
    for (const { reject, timer } of waiting.values()) {
      clearTimeout(timer)
      reject(new ToolFailure(reason))
    }
    waiting.clear()
  }
  const start = (): Worker => {
    const started = new Worker(new URL("./scan-worker.ts", import.meta.url).href)
    // An idle thread must not keep a finished process alive.
    started.unref()
    started.onmessage = ({ data }: MessageEvent<{ id: number; reply: ScanReply }>) => {
      const one = waiting.get(data.id)
      waiting.delete(data.id)
      clearTimeout(one?.timer)
      one?.resolve(data.reply)
    }
    started.onerror = (event) =>
      stop(`the thread that looks through files failed: ${event.message}`)
    return started
  }
  const countNewlines = async (part: FilePart): Promise<Uint32Array> => {
    worker ??= start()
    clearTimeout(idle)
    const id = ++lastId
    const { promise, resolve, reject } = deferred<ScanReply>()
    const timer = setTimeout(() => stop(OVER_TIME), SCANNER_LIMITS.requestMs)
    waiting.set(id, { resolve, reject, timer })
    worker.postMessage({ id, part })
    const reply = await promise
    if (waiting.size === 0) {
      idle = setTimeout(() => stop("idle"), SCANNER_LIMITS.idleMs)
      idle.unref()
    }
    if ("failed" in reply) throw new ToolFailure(reply.failed)
    return reply.counts
  }

  return { countNewlines, close: () => stop("the kernel stops") }
}
