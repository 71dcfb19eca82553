/** Rows of persons and their aliases. A merged person's row stays and points to the one that took it over. */
import type { Database } from "bun:sqlite"
import type { PersonAlias } from "../schema/person.ts"

export interface PersonRow {
  id: number
  name: string
  renamed: number
  created_at: number
}

interface OwnedAlias extends PersonAlias {
  person_id: number
}

export type PersonTable = ReturnType<typeof createPersonTable>

export function createPersonTable(db: Database) {
  const find = (id: number) =>
    db
      .query<PersonRow, [number]>(
        `SELECT kept.id, kept.name, kept.renamed, kept.created_at
         FROM persons asked JOIN persons kept ON kept.id = coalesce(asked.merged_into, asked.id)
         WHERE asked.id = ?`,
      )
      .get(id) ?? undefined

  const findByAlias = (alias: PersonAlias) =>
    db
      .query<PersonRow, [string, string]>(
        `SELECT id, name, renamed, persons.created_at
         FROM person_aliases JOIN persons ON persons.id = person_id WHERE source = ? AND ext_id = ?`,
      )
      .get(alias.source, alias.ext_id) ?? undefined

  const list = () =>
    db
      .query<PersonRow, []>(
        "SELECT id, name, renamed, created_at FROM persons WHERE merged_into IS NULL ORDER BY id",
      )
      .all()

  const aliasesOf = (id: number) =>
    db
      .query<PersonAlias, [number]>(
        "SELECT source, ext_id FROM person_aliases WHERE person_id = ? ORDER BY created_at, source, ext_id",
      )
      .all(id)

  const allAliases = () =>
    db
      .query<OwnedAlias, []>(
        "SELECT person_id, source, ext_id FROM person_aliases ORDER BY created_at, source, ext_id",
      )
      .all()

  const insert = (name: string, alias: PersonAlias, at: number): PersonRow => {
    const row = db
      .query<PersonRow, [string, number]>(
        "INSERT INTO persons (name, created_at) VALUES (?, ?) RETURNING id, name, renamed, created_at",
      )
      .get(name, at)!
    db.query(
      "INSERT INTO person_aliases (source, ext_id, person_id, created_at) VALUES (?, ?, ?, ?)",
    ).run(alias.source, alias.ext_id, row.id, at)
    return row
  }

  const setName = (id: number, name: string, renamed: number) =>
    db.query("UPDATE persons SET name = ?, renamed = ? WHERE id = ?").run(name, renamed, id)

  /** Moves aliases, earlier merges and the senders of messages; `gone` stays as a pointer. */
  const absorb = (gone: number, kept: number) => {
    db.query("UPDATE person_aliases SET person_id = ? WHERE person_id = ?").run(kept, gone)
    db.query("UPDATE persons SET merged_into = ? WHERE id = ? OR merged_into = ?").run(
      kept,
      gone,
      gone,
    )
    db.query(
      `UPDATE messages SET extra = json_set(extra, '$.sender', ?)
       WHERE json_extract(extra, '$.sender') = ?`,
    ).run(`p${kept}`, `p${gone}`)
  }

  return { find, findByAlias, list, aliasesOf, allAliases, insert, setName, absorb }
}
