/** Rows of what was forgotten and can still come back. They are in no index and have no vector. */
import type { Database } from "bun:sqlite"
import type { MemoryRow } from "./memory-table.ts"

export interface ArchivedRow extends MemoryRow {
  archived_at: number
  /** tool, api, sleep */
  archived_by: string
  reason: string | null
}

export type ArchiveTable = ReturnType<typeof createArchiveTable>

const COLUMNS =
  "id, kind, importance, private, content, source, hits, created_at, updated_at, accessed_at, consolidated_at, archived_at, archived_by, reason"

export function createArchiveTable(db: Database) {
  const find = (id: number) =>
    db.query<ArchivedRow, [number]>(`SELECT ${COLUMNS} FROM memory_archive WHERE id = ?`).get(id) ??
    undefined

  /** Last forgotten first. */
  const list = (page: { limit: number; offset: number }) =>
    db
      .query<ArchivedRow, [number, number]>(
        `SELECT ${COLUMNS} FROM memory_archive ORDER BY archived_at DESC, id DESC LIMIT ? OFFSET ?`,
      )
      .all(page.limit, page.offset)

  const insert = (row: ArchivedRow): void => {
    db.query(
      `INSERT INTO memory_archive (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ).run(
      row.id,
      row.kind,
      row.importance,
      row.private,
      row.content,
      row.source,
      row.hits,
      row.created_at,
      row.updated_at,
      row.accessed_at,
      row.consolidated_at,
      row.archived_at,
      row.archived_by,
      row.reason,
    )
  }

  const remove = (id: number): boolean =>
    db.query("DELETE FROM memory_archive WHERE id = ?").run(id).changes > 0

  /** How many were removed for good. */
  const removeBefore = (at: number): number =>
    db.query("DELETE FROM memory_archive WHERE archived_at < ?").run(at).changes

  return { find, list, insert, remove, removeBefore }
}
