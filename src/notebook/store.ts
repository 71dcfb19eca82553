/** All SQL of the notebook room: rows of `chat_notes`, their archive, and two columns of the chat. */
import type { Database } from "bun:sqlite"

export interface NoteRow {
  id: string
  chat_id: string
  name: string
  description: string
  body: string
  prev_body: string | null
  pinned: number
  created_at: number
  updated_at: number
}

/** What a chat knows about its notebook. */
export interface NotebookState {
  /** null: to no turn yet, or only ever whole. */
  notes_mode: string | null
  notes_seen_at: number | null
  /** null: there is no archive. */
  archived_at: number | null
}

export interface ArchiveRow {
  /** JSON list of rows. */
  notes: string
  archived_at: number
}

const COLUMNS = [
  ...["id", "chat_id", "name", "description", "body", "prev_body", "pinned"],
  ...["created_at", "updated_at"],
]
const NOTE = COLUMNS.join(", ")
const SLOTS = COLUMNS.map((column) => `$${column}`).join(", ")

export type NotebookStore = ReturnType<typeof createNotebookStore>

export function createNotebookStore(db: Database) {
  const list = db.query<NoteRow, [string]>(
    `SELECT ${NOTE} FROM chat_notes WHERE chat_id = ? ORDER BY created_at, id`,
  )
  const find = db.query<NoteRow, [string, string]>(
    `SELECT ${NOTE} FROM chat_notes WHERE chat_id = ? AND name = ?`,
  )
  const put = db.query(`INSERT OR REPLACE INTO chat_notes (${NOTE}) VALUES (${SLOTS})`)
  const remove = db.query("DELETE FROM chat_notes WHERE chat_id = ? AND name = ?")
  const removeAll = db.query("DELETE FROM chat_notes WHERE chat_id = ?")
  const state = db.query<NotebookState, [string]>(
    `SELECT notes_mode, notes_seen_at, archived_at FROM chats
     LEFT JOIN chat_notes_archive ON chat_id = id WHERE id = ?`,
  )
  const setMode = db.query("UPDATE chats SET notes_mode = $mode WHERE id = $id")
  const setSeen = db.query(
    "UPDATE chats SET notes_seen_at = max(coalesce(notes_seen_at, 0), $at) WHERE id = $id",
  )
  const archive = db.query<ArchiveRow, [string]>(
    "SELECT notes, archived_at FROM chat_notes_archive WHERE chat_id = ?",
  )
  const putArchive = db.query(
    "INSERT OR REPLACE INTO chat_notes_archive (chat_id, notes, archived_at) VALUES ($id, $notes, $at)",
  )
  return {
    /** Oldest first. */
    list: (chatId: string): NoteRow[] => list.all(chatId),
    find: (chatId: string, name: string): NoteRow | undefined =>
      find.get(chatId, name) ?? undefined,
    /** Writes the row whole, a new one or in place of the one with its id or its name. */
    put: (row: NoteRow): void => {
      put.run({ ...row })
    },
    /** False when there was none. */
    remove: (chatId: string, name: string): boolean => remove.run(chatId, name).changes > 0,
    removeAll: (chatId: string): void => {
      removeAll.run(chatId)
    },
    /** Undefined for an unknown chat. */
    state: (chatId: string): NotebookState | undefined => state.get(chatId) ?? undefined,
    setMode: (id: string, mode: string | null): void => {
      setMode.run({ id, mode })
    },
    /** Never back to an earlier time. */
    setSeen: (id: string, at: number): void => {
      setSeen.run({ id, at })
    },
    archive: (chatId: string): ArchiveRow | undefined => archive.get(chatId) ?? undefined,
    putArchive: (id: string, { notes, archived_at: at }: ArchiveRow): void => {
      putArchive.run({ id, notes, at })
    },
  }
}
