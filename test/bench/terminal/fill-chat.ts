/** A chat of many messages, written by SQLite itself into a file that a kernel has made. */
import { Database } from "bun:sqlite"

const QUESTION = "And how is that done for number "
const ANSWER =
  "It is done like the one before:\n\n- **first** look at it\n- then `do` it\n\n```ts\nconst done = look(it)\n```\n\nThat was number "

/** Questions and answers in turn, numbered from 0 at the end of each. The database must be closed. */
export function fillChat(path: string, title: string, messages: number): void {
  const db = new Database(path, { strict: true })
  try {
    db.transaction(() => {
      db.run(
        `INSERT INTO chats (id, title, title_key, created_at, updated_at)
         VALUES (${uuid("0")}, ?, lower(?), ${at("0")}, ${at(String(messages))})`,
        [title, title],
      )
      db.run(
        `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ? - 1)
         INSERT INTO messages (id, chat_id, turn_id, role, blocks, master, created_at)
         SELECT ${uuid("i")}, ${uuid("0")}, ${uuid("i - i % 2")}, iif(i % 2, 'assistant', 'user'),
           json_array(json_object('type', 'text', 'text', iif(i % 2, ?, ?) || i || '.')), 1, ${at("i")}
         FROM n`,
        [messages, ANSWER, QUESTION],
      )
    })()
    db.run("PRAGMA wal_checkpoint(TRUNCATE)")
  } finally {
    db.close()
  }
}

/** Ordered like the kernel's own: a UUIDv7 of a moment in 2024. */
const uuid = (i: string): string => `printf('018fb000-0000-7000-8000-%012x', ${i})`

const at = (i: string): string => `1717000000000 + (${i}) * 1000`
