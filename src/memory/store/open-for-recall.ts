/** The read-only connection of the recall thread. */
import { Database } from "bun:sqlite"
import { createRecallReads, type RecallReads } from "./recall-reads.ts"

export function openForRecall(path: string): { reads: RecallReads; close(): void } {
  const db = new Database(path, { readonly: true, strict: true })
  db.run("PRAGMA busy_timeout = 2000")
  db.run("PRAGMA query_only = ON")
  return { reads: createRecallReads(db), close: () => db.close() }
}
