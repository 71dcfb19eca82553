/** The read-only connection of the recall thread. */
import { Database } from "bun:sqlite"
import { createRecallReads, type RecallReads } from "./recall-reads.ts"

const MAPPED_BYTES = 1024 ** 3

export function openForRecall(path: string): { reads: RecallReads; close(): void } {
  const db = new Database(path, { readonly: true, strict: true })
  db.run("PRAGMA busy_timeout = 2000")
  db.run("PRAGMA query_only = ON")
  // Vectors lie all over the file: a mapped page needs no call to the system.
  db.run(`PRAGMA mmap_size = ${MAPPED_BYTES}`)
  return { reads: createRecallReads(db), close: () => db.close() }
}
