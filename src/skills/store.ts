/** Rows of skills. */
import type { Database } from "bun:sqlite"

export interface SkillRow {
  name: string
  description: string
  body: string
  model: string | null
  visibility: string
  created_at: number
  updated_at: number
}

/** All but the body, which is long and read one at a time. */
export type SkillLine = Omit<SkillRow, "body">

const LINE = "name, description, model, visibility, created_at, updated_at"

export type SkillTable = ReturnType<typeof createSkillTable>

export function createSkillTable(db: Database) {
  const find = (name: string) =>
    db.query<SkillRow, [string]>(`SELECT ${LINE}, body FROM skills WHERE name = ?`).get(name) ??
    undefined

  const list = () => db.query<SkillLine, []>(`SELECT ${LINE} FROM skills ORDER BY name`).all()

  /** Writes the row whole, a new one or in place of the one of this name. */
  const put = (row: SkillRow): void => {
    db.query(
      `INSERT OR REPLACE INTO skills (${LINE}, body)
       VALUES ($name, $description, $model, $visibility, $created_at, $updated_at, $body)`,
    ).run({ ...row })
  }

  const remove = (name: string): boolean =>
    db.query("DELETE FROM skills WHERE name = ?").run(name).changes > 0

  return { find, list, put, remove }
}
