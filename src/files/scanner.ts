/**
 * A thread that looks through bytes: it counts line ends and matches patterns, so that neither holds up the
 * event loop. It starts with the first request and ends when none came for a while.
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

export interface SearchQuery {
  pattern: string
  /** Of the letters i, x and U. */
  flags: string
  encoding: string
  /** The line that the first byte belongs to, and the first that counts. */
  startLine: number
  fromLine: number
  maxHits: number
}

export interface Hit {
  line: number
  text: string
}

export interface Found {
  hits: Hit[]
  /** The last line that was looked at. */
  line: number
}

export type ScanRequest =
  | ({ kind: "count" } & FilePart)
  | { kind: "search"; search: number; query: SearchQuery }
  | { kind: "feed"; search: number; bytes: Uint8Array; last: boolean }
  | { kind: "drop"; search: number }

export type ScanReply =
  | { kind: "counts"; counts: Uint32Array }
  | { kind: "found"; found: Found }
  | { kind: "done" }
  | { kind: "failed"; message: string }

export interface Search {
  /** Hits in these further bytes; `last` says that no more come. */
  feed(bytes: Uint8Array, last: boolean): Promise<Found>
  end(): void
}

export interface Scanner {
  /** Line ends in each block. */
  countNewlines(part: FilePart): Promise<Uint32Array>
  /** @throws ToolFailure for a pattern that is none */
  search(query: SearchQuery): Promise<Search>
  close(): void
}

interface Waiting {
  resolve(reply: ScanReply): void
  reject(error: unknown): void
  timer: ReturnType<typeof setTimeout>
}

const OVER_TIME = "looking through this part of the file took too long; make the pattern simpler"

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
  const ask = async (request: ScanRequest): Promise<ScanReply> => {
    worker ??= start()
    clearTimeout(idle)
    const id = ++lastId
    const { promise, resolve, reject } = deferred<ScanReply>()
    const timer = setTimeout(() => stop(OVER_TIME), SCANNER_LIMITS.requestMs)
    waiting.set(id, { resolve, reject, timer })
    worker.postMessage({ id, request })
    const reply = await promise
    if (waiting.size === 0) {
      idle = setTimeout(() => stop("idle"), SCANNER_LIMITS.idleMs)
      idle.unref()
    }
    if (reply.kind === "failed") throw new ToolFailure(reply.message)
    return reply
  }

  return {
    countNewlines: async (part) => {
      const reply = await ask({ kind: "count", ...part })
      return reply.kind === "counts" ? reply.counts : new Uint32Array()
    },
    search: async (query) => {
      const search = ++lastId
      await ask({ kind: "search", search, query })
      return {
        feed: async (bytes, last) => {
          const reply = await ask({ kind: "feed", search, bytes, last })
          return reply.kind === "found" ? reply.found : { hits: [], line: 0 }
        },
        end: () => worker?.postMessage({ id: 0, request: { kind: "drop", search } }),
      }
    },
    close: () => stop("the kernel stops"),
  }
}
