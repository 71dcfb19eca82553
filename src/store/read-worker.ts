/**
 * A thread with its own read-only connection, for reads that could hold the event loop for more than a few
 * milliseconds. It is an entry point of its own in the build.
 */
import { Database, type SQLQueryBindings } from "bun:sqlite"
import type { ReadReply, ReadRequest } from "./reader.ts"

declare const self: Worker

let db: Database | undefined

self.onmessage = (message: MessageEvent<ReadRequest>) => {
  const { id, path, sql, values } = message.data
  const reply = (answer: Omit<ReadReply, "id">) => self.postMessage({ id, ...answer })
  try {
    db ??= open(path)
    reply({ rows: db.query<unknown, SQLQueryBindings[]>(sql).all(...values) })
  } catch (error) {
    reply({ error: error instanceof Error ? error.message : String(error) })
  }
}

function open(path: string): Database {
  const opened = new Database(path, { readonly: true, strict: true })
  opened.run("PRAGMA busy_timeout = 2000")
  opened.run("PRAGMA query_only = ON")
  return opened
}
