/** Makes a kernel's database large in seconds: rows of the usual kind, written by SQLite itself. */
import { Database } from "bun:sqlite"
import { closeSync, fsyncSync, openSync } from "node:fs"

const CHATS = 2_000
const TEXT_CHARS = 700
/** About what a row takes in the file with its keys and indexes. */
const ROW_BYTES = 1_100

/** Fills a file that a kernel has made to at least about `bytes`; gives how many messages it wrote. */
export function fillDatabase(path: string, bytes: number): number {
  const db = new Database(path, { strict: true })
  const messages = Math.ceil(bytes / ROW_BYTES)
  try {
    db.run("PRAGMA synchronous = OFF")
    db.run("BEGIN IMMEDIATE")
    db.run(
      `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${CHATS - 1})
       INSERT INTO chats (id, title, title_key, created_at, updated_at)
       SELECT ${uuid("i")}, 'Chat ' || i, 'chat ' || i, ${at("i")}, ${at("i")} FROM n`,
    )
    // In the order of the key, so that pages fill one after another.
    const each = Math.ceil(messages / CHATS)
    db.query(
      `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${each * CHATS - 1})
       INSERT INTO messages (id, chat_id, turn_id, role, blocks, master, created_at)
       SELECT ${uuid("i")}, ${uuid(`i / ${each}`)}, ${uuid("i / 2")},
         iif(i % 2, 'assistant', 'user'),
         json_array(json_object('type', 'text', 'text', 'Message ' || i || ' ' || $words)),
         1, ${at("i")} FROM n`,
    ).run({ words: words() })
    db.run("COMMIT")
    db.run("PRAGMA wal_checkpoint(TRUNCATE)")
    return each * CHATS
  } finally {
    db.close()
    flush(path)
  }
}

/** What still waits for the disk would slow down whatever is measured next. */
function flush(path: string): void {
  const file = openSync(path, "r+")
  fsyncSync(file)
  closeSync(file)
}

/** Ordered like the kernel's own: a UUIDv7 of a moment in 2024 and after. */
const uuid = (i: string): string =>
  `printf('%08x-%04x-7000-8000-%012x', 26200000 + (${i}) / 65536, (${i}) % 65536, ${i})`

const at = (i: string): string => `1717000000000 + (${i}) * 1000`

const words = (): string =>
  "the quick brown fox jumps over the lazy dog and runs away ".repeat(TEXT_CHARS / 58)
