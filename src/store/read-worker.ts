/**
 * A thread with its own read-only connection, for reads that could hold the event loop for more than a few
 * milliseconds. It is an entry point of its own in the build.
 */
import { Database, type SQLQueryBindings } from "bun:sqlite"
import type { ReadReply, ReadRequest } from "./reader.ts"

declare const self: Worker

let db: Database | undefined

self.onmessage = ({ data: request }: MessageEvent<ReadRequest>) => {
  const reply = (answer: Omit<ReadReply, "id">) => self.postMessage({ id: request.id, ...answer })
  try {
    reply({ rows: "close" in request ? close() : read(request) })
  } catch (error) {
    reply({ error: error instanceof Error ? error.message : String(error) })
  }
}

function read({ path, sql, values }: Exclude<ReadRequest, { close: true }>): unknown[] {
  db ??= open(path)
  return db.query<unknown, SQLQueryBindings[]>(sql).all(...values)
}

function close(): unknown[] {
  db?.close()
  db = undefined
  return []
}

function open(path: string): Database {
  const opened = new Database(path, { readonly: true, strict: true })
  opened.run("PRAGMA busy_timeout = 2000")
  opened.run("PRAGMA query_only = ON")
  return opened
}
