/** Rows of tool sets. */
import type { Database } from "bun:sqlite"

export interface ToolsetRow {
  name: string
  description: string
  /** JSON list of names and groups. */
  tools: string
  hint: string | null
  workdir: string | null
  workdir_on: string
  uncapped: number
  narrate: number
  no_brevity: number
  created_at: number
  updated_at: number
}

const COLUMNS = [
  ...["name", "description", "tools", "hint", "workdir", "workdir_on"],
  ...["uncapped", "narrate", "no_brevity", "created_at", "updated_at"],
]
const ALL = COLUMNS.join(", ")

export type ToolsetTable = ReturnType<typeof createToolsetTable>

export function createToolsetTable(db: Database) {
  const find = (name: string) =>
    db.query<ToolsetRow, [string]>(`SELECT ${ALL} FROM toolsets WHERE name = ?`).get(name) ??
    undefined

  const list = () => db.query<ToolsetRow, []>(`SELECT ${ALL} FROM toolsets ORDER BY name`).all()

  /** Writes the row whole, a new one or in place of the one of this name. */
  const put = (row: ToolsetRow): void => {
    db.query(
      `INSERT OR REPLACE INTO toolsets (${ALL}) VALUES (${COLUMNS.map((name) => `$${name}`).join(", ")})`,
    ).run({ ...row })
  }

  const remove = (name: string): boolean =>
    db.query("DELETE FROM toolsets WHERE name = ?").run(name).changes > 0

  return { find, list, put, remove }
}
