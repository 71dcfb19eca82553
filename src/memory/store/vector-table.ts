/** Vectors of memories: one each, of the model that made it, with the signs of its parts for a quick look. */
import type { Database } from "bun:sqlite"
import { fromBlob, signsOf, toBlob } from "../signs.ts"

export interface UnembeddedRow {
  id: number
  content: string
}

export type VectorTable = ReturnType<typeof createVectorTable>

export function createVectorTable(db: Database) {
  /** Records with an id above `after` and up to `upTo` that have no vector of this model. */
  const missing = (model: string, { after, upTo }: { after: number; upTo: number }) =>
    db
      .query<UnembeddedRow, [string, number, number]>(
        `SELECT id, content FROM memories
         WHERE NOT EXISTS (SELECT 1 FROM memory_vectors WHERE memory_id = id AND model = ?)
           AND id > ? AND id <= ? ORDER BY id`,
      )
      .all(model, after, upTo)

  const lastId = () =>
    db.query<{ id: number | null }, []>("SELECT max(id) AS id FROM memories").get()?.id ?? 0

  /** False when the record is gone or says something else by now: the vector is of another text. */
  const put = (vector: {
    id: number
    content: string
    model: string
    unit: Float32Array
  }): boolean => {
    const { id, content, model, unit } = vector
    const { changes } = db
      .query(
        `INSERT INTO memory_vectors (memory_id, model, signs, vector)
         SELECT id, ?, ?, ? FROM memories WHERE id = ? AND content = ?
         ON CONFLICT (memory_id) DO UPDATE SET model = excluded.model, signs = excluded.signs,
           vector = excluded.vector`,
      )
      .run(model, toBlob(signsOf(unit)), toBlob(unit), id, content)
    return changes > 0
  }

  const find = (id: number, model: string): Float32Array | undefined => {
    const row = db
      .query<{ vector: Uint8Array }, [number, string]>(
        "SELECT vector FROM memory_vectors WHERE memory_id = ? AND model = ?",
      )
      .get(id, model)
    return row ? new Float32Array(fromBlob(row.vector)) : undefined
  }

  return { missing, lastId, put, find }
}
