/** Rows of checkpoints: what files were before a turn, or an undo, wrote them. */
import type { Database } from "bun:sqlite"

export interface CheckpointRow {
  chat_id: string
  writer_id: string
  writer: "turn" | "restore"
  machine: string
  path: string
  former: "absent" | "kept" | "dropped"
  former_sha256: string | null
  former_content: Uint8Array | null
  former_mode: number | null
  replaced_sha256: string | null
  left_sha256: string | null
  created_at: number
  restored_at: number | null
}

/** A row without the bytes. */
export type CheckpointEntry = Omit<CheckpointRow, "former_content">

export interface CheckpointKey {
  chat_id: string
  writer_id: string
  machine: string
  path: string
}

/** A turn or an undo, and how many bytes it keeps. */
export interface WriterSize {
  chat_id: string
  writer_id: string
  bytes: number
}

export type CheckpointTable = ReturnType<typeof createCheckpointTable>

const ENTRY = `chat_id, writer_id, writer, machine, path, former, former_sha256, former_mode,
  replaced_sha256, left_sha256, created_at, restored_at`

export const createCheckpointTable = (db: Database) => ({
  ...writing(db),
  ...reading(db),
  ...endings(db),
})

function writing(db: Database) {
  const insert = (row: CheckpointRow) =>
    db
      .query(
        `INSERT INTO checkpoints (chat_id, writer_id, writer, machine, path, former, former_sha256,
           former_content, former_mode, replaced_sha256, left_sha256, created_at, restored_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      )
      .run(
        ...[row.chat_id, row.writer_id, row.writer, row.machine, row.path, row.former],
        ...[row.former_sha256, row.former_content, row.former_mode, row.replaced_sha256],
        ...[row.left_sha256, row.created_at, row.restored_at],
      )

  /** A later write of the same writer; true when there was an earlier one. */
  const updateLeft = (key: CheckpointKey, replaced: string | null, left: string | null): boolean =>
    db
      .query(
        `UPDATE checkpoints SET replaced_sha256 = ?, left_sha256 = ?
         WHERE chat_id = ? AND writer_id = ? AND machine = ? AND path = ?`,
      )
      .run(replaced, left, key.chat_id, key.writer_id, key.machine, key.path).changes > 0

  const markRestored = (chatId: string, writerId: string, now: number) =>
    db
      .query("UPDATE checkpoints SET restored_at = ? WHERE chat_id = ? AND writer_id = ?")
      .run(now, chatId, writerId)

  return { insert, updateLeft, markRestored }
}

function reading(db: Database) {
  const has = (key: CheckpointKey): boolean =>
    db
      .query(
        "SELECT 1 FROM checkpoints WHERE chat_id = ? AND writer_id = ? AND machine = ? AND path = ?",
      )
      .get(key.chat_id, key.writer_id, key.machine, key.path) !== null

  const ofWriter = (chatId: string, writerId: string) =>
    db
      .query<CheckpointRow, [string, string]>(
        "SELECT * FROM checkpoints WHERE chat_id = ? AND writer_id = ? ORDER BY rowid",
      )
      .all(chatId, writerId)

  /** Newest writer first. */
  const ofChat = (chatId: string, limit: number) =>
    db
      .query<CheckpointEntry, [string, number]>(
        `SELECT ${ENTRY} FROM checkpoints WHERE chat_id = ? ORDER BY rowid DESC LIMIT ?`,
      )
      .all(chatId, limit)

  /** The newest turn that wrote and was not undone. */
  const lastTurn = (chatId: string) =>
    db
      .query<{ writer_id: string }, [string]>(
        `SELECT writer_id FROM checkpoints
         WHERE chat_id = ? AND writer = 'turn' AND restored_at IS NULL
         ORDER BY rowid DESC LIMIT 1`,
      )
      .get(chatId)?.writer_id

  /** Oldest writer first. */
  const sizes = () =>
    db
      .query<WriterSize, []>(
        `SELECT chat_id, writer_id, coalesce(sum(length(former_content)), 0) AS bytes
         FROM checkpoints GROUP BY chat_id, writer_id ORDER BY min(rowid)`,
      )
      .all()

  return { has, ofWriter, ofChat, lastTurn, sizes }
}

function endings(db: Database) {
  const dropContent = (key: CheckpointKey) =>
    db
      .query(
        `UPDATE checkpoints SET former = 'dropped', former_content = NULL
         WHERE chat_id = ? AND writer_id = ? AND machine = ? AND path = ? AND former = 'kept'`,
      )
      .run(key.chat_id, key.writer_id, key.machine, key.path)

  const removeWriter = (chatId: string, writerId: string) =>
    db.query("DELETE FROM checkpoints WHERE chat_id = ? AND writer_id = ?").run(chatId, writerId)

  const removeOfChat = (chatId: string) =>
    db.query("DELETE FROM checkpoints WHERE chat_id = ?").run(chatId)

  /** Writers whose last write is older; the number of rows that went. */
  const removeOlder = (before: number): number =>
    db
      .query(
        `DELETE FROM checkpoints WHERE (chat_id, writer_id) IN (
           SELECT chat_id, writer_id FROM checkpoints
           GROUP BY chat_id, writer_id HAVING max(created_at) < ?
         )`,
      )
      .run(before).changes

  return { dropContent, removeWriter, removeOfChat, removeOlder }
}
