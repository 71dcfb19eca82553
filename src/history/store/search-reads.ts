/** The reading side of the search: candidates from the index or row by row, newest first, and their chats. */
import { Database, type SQLQueryBindings } from "bun:sqlite"
import type { HistoryFilter } from "../../schema/history-search.ts"

/** No more than tells whether it matches: most do not. */
export interface CandidateRow {
  /** Of history_docs. */
  doc: number
  /** The entry that the index named; null when all entries of the message are candidates. */
  entry: number | null
  chat_id: string
  message_id: string
  created_at: number
  /** JSON list of blocks. */
  blocks: string
}

export interface DetailsRow {
  title: string
  surface: string | null
  role: string
  sender: string | null
  master: number
}

export interface NeighbourRow extends Pick<DetailsRow, "role" | "sender" | "master"> {
  created_at: number
  blocks: string
}

export type SearchReads = ReturnType<typeof createSearchReads>

/** In a chat with so few messages the index is no help: it would name all other chats' messages first. */
const SMALL_CHAT = 2000

const SENDER = "json_extract(m.extra, '$.sender')"
const SPEAKER = `m.role, ${SENDER} AS sender, m.master`
const MESSAGE = "CROSS JOIN messages m ON m.chat_id = d.chat_id AND m.id = d.message_id"
const COLUMNS = "d.id AS doc, d.chat_id, d.message_id, m.created_at, m.blocks"

export function createSearchReads(db: Database) {
  const isSmall = db.query<{ docs: number }, [string, number]>(
    "SELECT count(*) AS docs FROM (SELECT 1 FROM history_docs WHERE chat_id = ? LIMIT ?)",
  )
  const neighbours = (compare: "<" | ">", order: "DESC" | "ASC") =>
    db.query<NeighbourRow, [string, string, number]>(
      `SELECT ${SPEAKER}, m.created_at, m.blocks FROM messages m
       WHERE m.chat_id = ? AND m.id ${compare} ? ORDER BY m.id ${order} LIMIT ?`,
    )
  const earlier = neighbours("<", "DESC")
  const later = neighbours(">", "ASC")
  const details = db.query<DetailsRow, [string, string]>(
    `SELECT c.title, c.surface, ${SPEAKER} FROM messages m JOIN chats c ON c.id = m.chat_id
     WHERE m.chat_id = ? AND m.id = ?`,
  )

  /** `groups` of three characters that the entries hold; below the entry `before`. */
  function candidates(
    groups: readonly string[],
    before: number,
    filter: HistoryFilter,
  ): IterableIterator<CandidateRow> {
    const { clauses, values } = conditions(filter)
    const run = (sql: string, first: SQLQueryBindings[]) =>
      db
        .query<CandidateRow, SQLQueryBindings[]>(`${sql}${clauses.join("")} ORDER BY 1 DESC`)
        .iterate(...first, ...values)
    const { chatId } = filter
    if (chatId !== undefined && isSmall.get(chatId, SMALL_CHAT)!.docs < SMALL_CHAT) {
      return run(
        `SELECT ${COLUMNS}, NULL AS entry
         FROM (SELECT id, chat_id, message_id FROM history_docs WHERE chat_id = ? AND 2 * id < ?
           ORDER BY id DESC) d ${MESSAGE} WHERE true`,
        [chatId, before],
      )
    }
    if (groups.length === 0) {
      return run(
        `SELECT ${COLUMNS}, NULL AS entry FROM history_docs d ${MESSAGE}
         WHERE d.id <= ?`,
        [Math.floor(before / 2)],
      )
    }
    const all = groups.map((group) => `"${group.replaceAll('"', '""')}"`).join(" ")
    return run(
      `SELECT i.rowid AS entry, ${COLUMNS} FROM history_index i
         CROSS JOIN history_docs d ON d.id = i.rowid / 2 ${MESSAGE}
       WHERE i.history_index MATCH ? AND i.rowid < ?${filter.includeService ? "" : " AND i.rowid % 2 = 0"}`,
      [all, before],
    )
  }

  return {
    candidates,
    details: (chatId: string, messageId: string): DetailsRow => details.get(chatId, messageId)!,
    /** The nearest first. */
    earlier: (chatId: string, messageId: string, limit: number): NeighbourRow[] =>
      earlier.all(chatId, messageId, limit),
    later: (chatId: string, messageId: string, limit: number): NeighbourRow[] =>
      later.all(chatId, messageId, limit),
  }
}

/** What is in the bin is not searched. */
function conditions({ chatId, who, from, to, exceptTurn }: HistoryFilter): {
  clauses: string[]
  values: SQLQueryBindings[]
} {
  // Looked up once for the whole search.
  const clauses = [" AND d.chat_id NOT IN (SELECT id FROM chats WHERE deleted_at IS NOT NULL)"]
  const values: SQLQueryBindings[] = []
  const add = (clause: string, ...bound: SQLQueryBindings[]) => {
    clauses.push(` AND ${clause}`)
    values.push(...bound)
  }
  if (chatId !== undefined) add("d.chat_id = ?", chatId)
  if (exceptTurn !== undefined) add("m.turn_id IS NOT ?", exceptTurn)
  if (from !== undefined) add("m.created_at >= ?", from)
  if (to !== undefined) add("m.created_at < ?", to)
  if (who === "agent") add("m.role = 'assistant'")
  else if (who === "master") add("m.role = 'user' AND m.master = 1")
  else if (who !== undefined) add(`${SENDER} = ?`, who)
  return { clauses, values }
}

/** Candidates lie all over the file: a mapped page needs no call to the system, which is a quarter of their price. */
const MAPPED_BYTES = 2 * 1024 ** 3

/** The read-only connection of the search thread. */
export function openForSearch(path: string): { reads: SearchReads; close(): void } {
  const db = new Database(path, { readonly: true, strict: true })
  db.run("PRAGMA busy_timeout = 2000")
  db.run("PRAGMA query_only = ON")
  db.run(`PRAGMA mmap_size = ${MAPPED_BYTES}`)
  return { reads: createSearchReads(db), close: () => db.close() }
}
