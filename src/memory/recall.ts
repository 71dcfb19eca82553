/** Recall, on this thread while the corpus is small and on one of its own when it is not. */
import { deferred, settledWithin } from "../lib/async.ts"
import { KernelError } from "../lib/error.ts"
import { RecallEngine, type RecallHit, type RecallQuery } from "./recall-engine.ts"
import type { RecallReads } from "./store/recall-reads.ts"

export type RecallRequest =
  | { id: number; path: string; changed: number[]; query: RecallQuery }
  | { id: number; close: true }

export interface RecallReply {
  id: number
  hits?: RecallHit[]
  error?: string
}

export interface Recall {
  find(query: RecallQuery): Promise<RecallHit[]>
  /** These were stored, changed or removed; told after the commit. */
  changed(ids: Iterable<number>): void
  /** Settles when the thread has let the file go, or after a second. */
  close(): Promise<void>
}

export interface RecallOptions {
  path: string
  /** Reads on the kernel's own connection. */
  reads: RecallReads
  hasMoreThan(count: number): boolean
  /** Up to so many records are ranked on this thread: that takes a few milliseconds. */
  inlineMax?: number
}

const INLINE_MAX = 1000
const CLOSE_MAX_MS = 1000

export function createRecall(options: RecallOptions): Recall {
  const { reads, hasMoreThan, inlineMax = INLINE_MAX } = options
  let here: RecallEngine | undefined
  let thread: ReturnType<typeof startThread> | undefined
  let closed = false
  return {
    find: async (query) => {
      if (closed) throw new KernelError("unavailable", "the kernel is stopping")
      if (!thread && !hasMoreThan(inlineMax)) {
        here ??= new RecallEngine(reads)
        return here.find(query)
      }
      // Once started it stays, and what was read here is let go.
      here = undefined
      thread ??= startThread(options.path, () => {
        thread = undefined
      })
      return thread.find(query)
    },
    changed: (ids) => {
      const all = [...ids]
      if (thread) thread.changed(all)
      else here?.changed(all)
    },
    close: async () => {
      closed = true
      await thread?.close()
    },
  }
}

interface Waiting {
  resolve(hits: RecallHit[]): void
  reject(error: unknown): void
}

function startThread(path: string, onFailure: () => void) {
  const waiting = new Map<number, Waiting>()
  let changed = new Set<number>()
  let lastId = 0
  const worker = new Worker(new URL("./recall-worker.ts", import.meta.url).href)
  worker.unref()
  worker.onmessage = ({ data }: MessageEvent<RecallReply>) => {
    const one = waiting.get(data.id)
    waiting.delete(data.id)
    if (data.hits) one?.resolve(data.hits)
    else one?.reject(new KernelError("internal", `recall failed: ${data.error}`))
  }
  worker.onerror = (event) => {
    for (const one of waiting.values()) {
      one.reject(new KernelError("internal", `the recall worker failed: ${event.message}`))
    }
    waiting.clear()
    onFailure()
  }
  const ask = (request: (id: number) => RecallRequest): Promise<RecallHit[]> => {
    const { promise, resolve, reject } = deferred<RecallHit[]>()
    const id = ++lastId
    waiting.set(id, { resolve, reject })
    worker.postMessage(request(id))
    return promise
  }
  return {
    find: (query: RecallQuery) => {
      const ids = [...changed]
      changed = new Set()
      return ask((id) => ({ id, path, changed: ids, query }))
    },
    changed: (ids: readonly number[]) => {
      for (const id of ids) changed.add(id)
    },
    close: async () => {
      await settledWithin(
        ask((id) => ({ id, close: true })),
        CLOSE_MAX_MS,
      )
      worker.terminate()
    },
  }
}
