/** Reads in a worker thread: the event loop stays free. The thread starts with the first read. */
import type { SQLQueryBindings } from "bun:sqlite"
import { KernelError } from "../lib/error.ts"

export interface ReadRequest {
  id: number
  path: string
  sql: string
  values: SQLQueryBindings[]
}

export interface ReadReply {
  id: number
  rows?: unknown[]
  error?: string
}

export interface Reader {
  /** All rows of one statement. Throws KernelError("internal") with SQLite's words. */
  all<Row>(sql: string, values?: SQLQueryBindings[]): Promise<Row[]>
  close(): void
}

interface Waiting {
  resolve(rows: unknown[]): void
  reject(error: unknown): void
}

export function createReader(path: string): Reader {
  const waiting = new Map<number, Waiting>()
  let worker: Worker | undefined
  let lastId = 0

  const failAll = (reason: string) => {
    for (const one of waiting.values()) one.reject(new KernelError("internal", reason))
    waiting.clear()
  }
  const start = (): Worker => {
    const started = new Worker(new URL("./read-worker.ts", import.meta.url).href)
    // An idle reader must not keep a finished process alive.
    started.unref()
    started.onmessage = (message: MessageEvent<ReadReply>) => {
      const { id, rows, error } = message.data
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

  return {
    all: <Row>(sql: string, values: SQLQueryBindings[] = []) => {
      worker ??= start()
      const { promise, resolve, reject } = Promise.withResolvers<unknown[]>()
      const id = ++lastId
      waiting.set(id, { resolve, reject })
      worker.postMessage({ id, path, sql, values } satisfies ReadRequest)
      return promise as Promise<Row[]>
    },
    close: () => {
      worker?.terminate()
      worker = undefined
      failAll("the database is closing")
    },
  }
}
