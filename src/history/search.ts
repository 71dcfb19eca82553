/** The thread that searches: started by the first search, ended when one does not come to its end. */
import { deferred, settledWithin } from "../lib/async.ts"
import { KernelError } from "../lib/error.ts"
import type { HistoryPage, HistoryQuery } from "../schema/history-search.ts"
import { endless } from "./needle.ts"

export type SearchRequest =
  | { id: number; path: string; query: HistoryQuery; limitMs: number }
  | { id: number; close: true }

export interface SearchReply {
  id: number
  page?: HistoryPage
  /** What is wrong with the query. */
  invalid?: string
  error?: string
}

export interface SearchThread {
  /**
   * One search after another. Throws KernelError: "invalid" for the query, also for a regular expression that
   * does not come to its end; "unavailable" when the kernel stops.
   */
  find(query: HistoryQuery): Promise<HistoryPage>
  /** Settles when the thread has let the file go, or after a second. */
  close(): Promise<void>
}

/** Between messages a search looks at how long its thread has worked on it, and stops by itself. */
const LIMIT_MS = 2000
/** One that cannot, deep inside a regular expression, is ended with its thread; a busy machine may take long. */
const KILL_AFTER_MS = 20_000
const CLOSE_MAX_MS = 1000

interface Asked {
  reply: Promise<SearchReply>
  id: number
}

/** `limits` are others than the usual ones, for tests of them. */
export function createSearchThread(path: string, limits?: { killAfterMs?: number }): SearchThread {
  const waiting = new Map<number, (reply: SearchReply) => void>()
  let worker: Worker | undefined
  let line: Promise<unknown> = Promise.resolve()
  let lastId = 0
  let closed = false

  const end = (why: Omit<SearchReply, "id">): void => {
    worker?.terminate()
    worker = undefined
    for (const [id, settle] of waiting) settle({ id, ...why })
    waiting.clear()
  }
  const start = (): Worker => {
    const started = new Worker(new URL("./search-worker.ts", import.meta.url).href)
    started.unref()
    started.onmessage = ({ data }: MessageEvent<SearchReply>) => {
      waiting.get(data.id)?.(data)
      waiting.delete(data.id)
    }
    started.onerror = (event) => end({ error: event.message })
    return started
  }
  const ask = (to: Worker, request: (id: number) => SearchRequest): Asked => {
    const { promise, resolve } = deferred<SearchReply>()
    const id = ++lastId
    waiting.set(id, resolve)
    to.postMessage(request(id))
    return { reply: promise, id }
  }
  const findNow = async (query: HistoryQuery): Promise<HistoryPage> => {
    if (closed) throw new KernelError("unavailable", "the kernel is stopping")
    worker ??= start()
    const { reply } = ask(worker, (id) => ({ id, path, query, limitMs: LIMIT_MS }))
    if (!(await settledWithin(reply, limits?.killAfterMs ?? KILL_AFTER_MS)))
      end({ invalid: endless().message })
    return pageOf(await reply)
  }

  return {
    find: (query) => {
      const found = line.then(() => findNow(query))
      line = found.catch(() => undefined)
      return found
    },
    close: async () => {
      closed = true
      if (!worker) return
      const { reply } = ask(worker, (id) => ({ id, close: true }))
      await settledWithin(reply, CLOSE_MAX_MS)
      end({ error: "the kernel is stopping" })
    },
  }
}

function pageOf({ page, invalid, error }: SearchReply): HistoryPage {
  if (page) return page
  if (invalid !== undefined) throw new KernelError("invalid", invalid, { path: "query" })
  throw new KernelError("internal", `the search of history failed: ${error}`)
}
