/** From any released schema to the newest, whole or not at all. */
import { Database } from "bun:sqlite"
import { describe, expect, test } from "bun:test"
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { createLog } from "../../src/lib/log.ts"
import { APPLICATION_ID, schemaVersion } from "../../src/store/migrate.ts"
import { MIGRATIONS, type Migration } from "../../src/store/migrations.ts"
import { modeOf, one, open, refusal, tempFolder, writeDatabase } from "./support.ts"

const NEWEST = MIGRATIONS.at(-1)!.version
/** A database of each schema, as SQL. Once a schema is released its fixture never changes again. */
const FIXTURES = join(import.meta.dir, "fixtures")

const ONE: Migration = { version: 1, sql: "CREATE TABLE a (x TEXT) STRICT" }
const BROKEN_ONE: Migration = { version: 1, sql: `${ONE.sql}; INSERT INTO nowhere VALUES (1)` }
const TWO: Migration = {
  version: 2,
  sql: "CREATE TABLE b (y TEXT); ALTER TABLE a ADD COLUMN z TEXT",
}
const BROKEN: Migration = {
  version: 3,
  sql: "CREATE TABLE c (x); UPDATE a SET x = 'gone'; DROP TABLE b; INSERT INTO nowhere VALUES (1)",
}

/** Names and texts of all that the schema holds. */
const schemaOf = (db: Database): unknown[] =>
  db.query("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name").all()

describe("migrations", () => {
  test("are numbered one after another from 1", () => {
    expect(MIGRATIONS.map(({ version }) => version)).toEqual(MIGRATIONS.map((_, i) => i + 1))
  })

  test("a fresh database gets the newest schema, its number and the mark of this program", () => {
    using folder = tempFolder()
    const store = open(folder.path)
    expect(schemaVersion(store.db)).toBe(NEWEST)
    expect(one<number>(store, "PRAGMA application_id")).toBe(APPLICATION_ID)
    store.close()
    expect(readdirSync(folder.dir).sort()).toEqual(["eva.db", "eva.db.lock"])
  })

  test("a second start changes nothing", () => {
    using folder = tempFolder()
    open(folder.path).close()
    const bytes = readFileSync(folder.path)
    open(folder.path).close()
    expect(readFileSync(folder.path).equals(bytes)).toBe(true)
  })

  test("a released schema has its fixture", () => {
    const files = MIGRATIONS.map(({ version }) => `schema-${version}.sql`)
    expect(readdirSync(FIXTURES).sort()).toEqual(files.sort())
  })

  test.each(readdirSync(FIXTURES))("%s becomes the newest schema with all its rows", (file) => {
    using folder = tempFolder()
    writeDatabase(folder.path, readFileSync(join(FIXTURES, file), "utf8"))
    const store = open(folder.path)
    const count = (table: string) => one<number>(store, `SELECT count(*) FROM ${table}`)
    expect({
      version: schemaVersion(store.db),
      counts: [count("chats"), count("turns"), count("messages"), count("spend")],
      check: one<string>(store, "PRAGMA integrity_check"),
      orphans: store.db.query("PRAGMA foreign_key_check").all(),
    }).toEqual({ version: NEWEST, counts: [1, 2, 6, 3], check: "ok", orphans: [] })

    using fresh = tempFolder()
    const other = open(fresh.path)
    expect(schemaOf(store.db)).toEqual(schemaOf(other.db))
    other.close()
    store.close()
  })
})

describe("an upgrade", () => {
  const older = (path: string) => {
    const store = open(path, { migrations: [ONE] })
    store.write(() => store.db.run("INSERT INTO a VALUES ('kept')"))
    store.close()
  }

  test("leaves a copy of what was there before, checked and for the owner alone", () => {
    using folder = tempFolder()
    older(folder.path)
    const lines: string[] = []
    const log = createLog({ level: "info", human: false, write: (line) => lines.push(line) })
    const store = open(folder.path, { migrations: [ONE, TWO], log })
    expect(schemaVersion(store.db)).toBe(2)
    expect(one<string>(store, "SELECT x FROM a WHERE z IS NULL")).toBe("kept")
    store.close()

    const copy = `${folder.path}.schema-1.bak`
    expect(modeOf(copy)).toBe("600")
    using before = new Database(copy, { readonly: true })
    expect(schemaVersion(before)).toBe(1)
    expect(before.query("SELECT * FROM a").all()).toEqual([{ x: "kept" }])
    expect(lines.join("")).toContain(copy)
    expect(readdirSync(folder.dir).sort()).toEqual(["eva.db", "eva.db.lock", "eva.db.schema-1.bak"])
  })

  test("a copy can be put back", () => {
    using folder = tempFolder()
    older(folder.path)
    open(folder.path, { migrations: [ONE, TWO] }).close()
    const store = open(`${folder.path}.schema-1.bak`, { migrations: [ONE] })
    expect(one<string>(store, "SELECT x FROM a")).toBe("kept")
    store.close()
  })

  test("that breaks is undone with its number, and its predecessors stay", () => {
    using folder = tempFolder()
    older(folder.path)
    const { code, path, message } = refusal(folder.path, { migrations: [ONE, TWO, BROKEN] })
    expect({ code, path }).toEqual({ code: "config", path: "db.path" })
    expect(message).toContain("no such table: nowhere")

    const store = open(folder.path, { migrations: [ONE, TWO] })
    expect(schemaVersion(store.db)).toBe(2)
    expect(schemaOf(store.db)).toMatchObject([{ name: "a" }, { name: "b" }])
    expect(one<string>(store, "SELECT x FROM a")).toBe("kept")
    store.close()
  })

  test("that breaks at every start leaves one copy, not one each time", () => {
    using folder = tempFolder()
    older(folder.path)
    for (let i = 0; i < 3; i++) refusal(folder.path, { migrations: [ONE, BROKEN] })
    expect(readdirSync(folder.dir).filter((name) => name.includes(".bak"))).toEqual([
      "eva.db.schema-1.bak",
    ])
  })

  test("is not begun when the copy cannot be made", () => {
    using folder = tempFolder()
    older(folder.path)
    // Where the copy should come to lie there is something that no file can replace.
    const inTheWay = `${folder.path}.schema-1.bak`
    mkdirSync(join(inTheWay, "full"), { recursive: true })
    expect(refusal(folder.path, { migrations: [ONE, TWO] }).message).toContain(
      "cannot be copied before its migration, which is not done",
    )
    const after = open(folder.path, { migrations: [ONE] })
    expect(schemaVersion(after.db)).toBe(1)
    after.close()
    expect(existsSync(`${inTheWay}.tmp`)).toBe(false)
  })

  test("a first migration that breaks leaves an empty file that a repaired program can use", () => {
    using folder = tempFolder()
    refusal(folder.path, { migrations: [BROKEN_ONE] })
    const store = open(folder.path, { migrations: [ONE] })
    expect(schemaVersion(store.db)).toBe(1)
    store.close()
  })
})

test("a database newer than the program is refused and not touched", () => {
  using folder = tempFolder()
  open(folder.path, { migrations: [ONE, TWO] }).close()
  const bytes = readFileSync(folder.path)
  const { code, path, message } = refusal(folder.path, { migrations: [ONE] })
  expect({ code, path }).toEqual({ code: "config", path: "db.path" })
  expect(message).toBe(
    `${folder.path} has schema version 2, newer than 1 which this program knows: start the newer eva-kernel that wrote it, or restore the copy made before the upgrade`,
  )
  expect(readFileSync(folder.path).equals(bytes)).toBe(true)
})
