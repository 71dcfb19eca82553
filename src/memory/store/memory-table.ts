/** Rows of memories, and the entry that each has in the full-text index: both change together. */
import type { Database } from "bun:sqlite"
import { root, stems } from "../../lib/stems.ts"
import type { MemoryKind } from "../../schema/memory.ts"
import { speakerOf } from "../speaker.ts"

export interface MemoryRow {
  id: number
  kind: MemoryKind
  importance: number
  private: number
  content: string
  source: string | null
  hits: number
  created_at: number
  updated_at: number
  accessed_at: number
  consolidated_at: number | null
}

export type NewMemoryRow = Omit<MemoryRow, "id" | "consolidated_at"> & {
  /** Given when a record comes back. */
  id?: number
  consolidated_at?: number | null
}

export interface MemoryFilter {
  seesPrivate: boolean
  kind?: MemoryKind | undefined
  /** Created at or after this moment. */
  since?: number | undefined
  /** Only ids below this one. */
  before?: number | undefined
  limit: number
}

export type MemoryTable = ReturnType<typeof createMemoryTable>

const COLUMNS =
  "id, kind, importance, private, content, source, hits, created_at, updated_at, accessed_at, consolidated_at"

export const createMemoryTable = (db: Database) => ({ ...memoryReads(db), ...memoryWrites(db) })

function memoryReads(db: Database) {
  const find = (id: number) =>
    db.query<MemoryRow, [number]>(`SELECT ${COLUMNS} FROM memories WHERE id = ?`).get(id) ??
    undefined

  /** Those that are there, by their id. */
  const findAll = (ids: readonly number[]): Map<number, MemoryRow> =>
    new Map(
      db
        .query<MemoryRow, [string]>(
          `SELECT ${COLUMNS} FROM memories WHERE id IN (SELECT value FROM json_each(?))`,
        )
        .all(JSON.stringify(ids))
        .map((row) => [row.id, row]),
    )

  /** Newest first. */
  const list = ({ seesPrivate, kind, since, before, limit }: MemoryFilter) =>
    db
      .query<MemoryRow, [number, string | null, number, number, number]>(
        `SELECT ${COLUMNS} FROM memories
         WHERE private <= ?1 AND (?2 IS NULL OR kind = ?2) AND created_at >= ?3 AND id < ?4
         ORDER BY id DESC LIMIT ?5`,
      )
      .all(
        seesPrivate ? 1 : 0,
        kind ?? null,
        since ?? Number.MIN_SAFE_INTEGER,
        before ?? Number.MAX_SAFE_INTEGER,
        limit,
      )

  /** The most important first, among equals the oldest: what falls out of a full prompt stands last. */
  const core = (seesPrivate: boolean) =>
    db
      .query<MemoryRow, [number]>(
        `SELECT ${COLUMNS} FROM memories WHERE kind = 'core' AND private <= ?
         ORDER BY importance DESC, created_at, id`,
      )
      .all(seesPrivate ? 1 : 0)

  /** In the order of ids, whoever may see them. */
  const after = (id: number, limit: number) =>
    db
      .query<MemoryRow, [number, number]>(
        `SELECT ${COLUMNS} FROM memories WHERE id > ? ORDER BY id LIMIT ?`,
      )
      .all(id, limit)

  const count = () =>
    db.query<{ count: number }, []>("SELECT count(*) AS count FROM memories").get()?.count ?? 0

  /** Looks at no more rows than it must: a whole count of many would take a while. */
  const hasMoreThan = (limit: number): boolean =>
    db.query("SELECT 1 FROM memories LIMIT 1 OFFSET ?").get(limit) !== null

  const hasPrivate = () =>
    db.query("SELECT 1 FROM memories WHERE private = 1 LIMIT 1").get() !== null

  return { find, findAll, list, core, after, count, hasMoreThan, hasPrivate }
}

function memoryWrites(db: Database) {
  const insert = (row: NewMemoryRow): number => {
    const added = db
      .query<{ id: number }, (string | number | null)[]>(
        `INSERT INTO memories (${COLUMNS}, speaker)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
      )
      .get(
        row.id ?? null,
        row.kind,
        row.importance,
        row.private,
        row.content,
        row.source,
        row.hits,
        row.created_at,
        row.updated_at,
        row.accessed_at,
        row.consolidated_at ?? null,
        speakerOf(row.content) ?? null,
      )!
    addToIndex(db, added.id, row.content)
    return added.id
  }

  /** Writes all changeable columns; another text gets another index entry and loses its vector. */
  const update = (row: MemoryRow, before: MemoryRow): void => {
    db.query(
      `UPDATE memories SET kind = ?, importance = ?, private = ?, content = ?, speaker = ?, hits = ?,
         created_at = ?, updated_at = ?, accessed_at = ?, consolidated_at = ?
       WHERE id = ?`,
    ).run(
      row.kind,
      row.importance,
      row.private,
      row.content,
      speakerOf(row.content) ?? null,
      row.hits,
      row.created_at,
      row.updated_at,
      row.accessed_at,
      row.consolidated_at,
      row.id,
    )
    if (row.content === before.content) return
    dropFromIndex(db, row.id)
    addToIndex(db, row.id, row.content)
    dropVector(db, row.id)
  }

  /** Called to mind again. */
  const reinforce = (id: number, at: number): void => {
    db.query(
      "UPDATE memories SET hits = hits + 1, accessed_at = max(accessed_at, ?) WHERE id = ?",
    ).run(at, id)
  }

  const settle = (id: number, at: number): void => {
    db.query("UPDATE memories SET consolidated_at = ? WHERE id = ?").run(at, id)
  }

  const remove = (id: number): void => {
    dropFromIndex(db, id)
    dropVector(db, id)
    db.query("DELETE FROM memories WHERE id = ?").run(id)
  }

  return { insert, update, reinforce, settle, remove }
}

const addToIndex = (db: Database, id: number, content: string): void => {
  const all = stems(content)
  db.query("INSERT INTO memory_index (rowid, stems, roots) VALUES (?, ?, ?)").run(
    id,
    all.join(" "),
    all.map(root).join(" "),
  )
}

const dropFromIndex = (db: Database, id: number): void => {
  db.query("DELETE FROM memory_index WHERE rowid = ?").run(id)
}

const dropVector = (db: Database, id: number): void => {
  db.query("DELETE FROM memory_vectors WHERE memory_id = ?").run(id)
}
