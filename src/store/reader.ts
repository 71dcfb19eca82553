/** Reads in a worker thread: the event loop stays free. The thread starts with the first read. */
import type { SQLQueryBindings } from "bun:sqlite"
import { deferred, settledWithin } from "../lib/async.ts"
import { KernelError } from "../lib/error.ts"

/** A statement to read, or `close`: let the file go. */
export type ReadRequest =
  | { id: number; path: string; sql: string; values: SQLQueryBindings[] }
  | { id: number; close: true }

export interface ReadReply {
  id: number
  rows?: unknown[]
  error?: string
}

export interface Reader {
  /** All rows of one statement. Throws KernelError("internal") with SQLite's words. */
  all<Row>(sql: string, values?: SQLQueryBindings[]): Promise<Row[]>
  /**
   * Refuses new reads and fails those that wait; settles when the thread has let the file go, or after a
   * second when it is deep in a long read.
   */
  close(): Promise<void>
}

const CLOSE_MAX_MS = 1000

interface Waiting {
  resolve(rows: unknown[]): void
  reject(error: unknown): void
}

export function createReader(path: string): Reader {
  const waiting = new Map<number, Waiting>()
  let worker: Worker | undefined
  let lastId = 0
  let closed = false

  const failAll = (reason: string) => {
    for (const one of waiting.values()) one.reject(new KernelError("internal", reason))
    waiting.clear()
  }
  const start = (): Worker => {
    const started = new Worker(new URL("./read-worker.ts", import.meta.url).href)
    // An idle reader must not keep a finished process alive.
    started.unref()
    started.onmessage = ({ data }: MessageEvent<ReadReply>) => {
      const { id, rows, error } = data
      const one = waiting.get(id)
      waiting.delete(id)
      if (rows) one?.resolve(rows)
      else one?.reject(new KernelError("internal", `the database read failed: ${error}`))
    }
    started.onerror = (event) => {
      worker = undefined
      failAll(`the read worker failed: ${event.message}`)
    }
    return started
  }
  const ask = (to: Worker, request: (id: number) => ReadRequest): Promise<unknown[]> => {
    const { promise, resolve, reject } = deferred<unknown[]>()
    const id = ++lastId
    waiting.set(id, { resolve, reject })
    to.postMessage(request(id))
    return promise
  }

  return {
    all: async <Row>(sql: string, values: SQLQueryBindings[] = []) => {
      if (closed) throw new KernelError("internal", "the database is closed")
      worker ??= start()
      return (await ask(worker, (id) => ({ id, path, sql, values }))) as Row[]
    },
    close: async () => {
      const last = worker
      closed = true
      worker = undefined
      failAll("the database is closing")
      if (!last) return
      await settledWithin(
        ask(last, (id) => ({ id, close: true })),
        CLOSE_MAX_MS,
      )
      last.terminate()
      waiting.clear()
    },
  }
}
