/**
 * Writes `fixtures/schema-N.sql`: what a kernel of the newest schema leaves after a little talk.
 * Run it when a schema is released (`bun test/store/write-fixture.ts`), never for one that was.
 */
import { Database, type SQLQueryBindings } from "bun:sqlite"
import { rmSync } from "node:fs"
import { join } from "node:path"
import { MIGRATIONS } from "../../src/store/migrations.ts"
import { plan, testKernel } from "../support/kernel.ts"

const kernel = await testKernel()
const chat = kernel.newChat()
const steps = [{ call: "person_list" }, { say: "Nobody yet." }]
await kernel.turn(chat, plan(steps, "Who is there? / Кто здесь?"))
await kernel.turn(chat, "And now?")
await kernel.close(0)

const db = new Database(join(kernel.folder, "eva.db"))
const version = MIGRATIONS.at(-1)!.version
const path = join(import.meta.dir, `fixtures/schema-${version}.sql`)
await Bun.write(path, `${dump(db).join("\n")}\n`)
db.close()
rmSync(kernel.folder, { recursive: true })
process.stdout.write(`wrote ${path}\n`)

function dump(db: Database): string[] {
  const pragma = (name: string) =>
    `PRAGMA ${name} = ${Object.values(db.query(`PRAGMA ${name}`).get()!)[0]};`
  const schema = db
    .query<{ type: string; name: string; sql: string }, []>(
      "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid",
    )
    .all()
  const isVirtual = ({ sql }: { sql: string }) => sql.startsWith("CREATE VIRTUAL TABLE")
  const isTrigger = ({ type }: { type: string }) => type === "trigger"
  const shadows = schema.filter(isVirtual).map(({ name }) => `${name}_`)
  const own = schema.filter(
    ({ name }) => !name.startsWith("sqlite_") && !shadows.some((shadow) => name.startsWith(shadow)),
  )
  // The tables behind an index come with it, and its settings go in through it.
  const settings = schema.filter(isVirtual).flatMap(({ name }) => indexSettings(db, name))
  return [
    `-- A database of schema ${version} as a kernel left it: one chat, a turn with a tool, a turn without.`,
    pragma("application_id"),
    pragma("user_version"),
    ...own.filter((entry) => !isTrigger(entry)).map(({ sql }) => `${sql};`),
    ...settings,
    ...own
      .filter((entry) => entry.type === "table" && !isVirtual(entry))
      .flatMap(({ name }) => inserts(db, name)),
    // What they write is among the rows already.
    ...own.filter(isTrigger).map(({ sql }) => `${sql};`),
  ]
}

function inserts(db: Database, table: string): string[] {
  const rows = db.query<Record<string, SQLQueryBindings>, []>(`SELECT * FROM ${table}`).all()
  return rows.map((row) => {
    const values = Object.values(row).map(literal)
    return `INSERT INTO ${table} (${Object.keys(row).join(", ")}) VALUES (${values.join(", ")});`
  })
}

function indexSettings(db: Database, name: string): string[] {
  const isIndex = db.query("SELECT 1 FROM sqlite_schema WHERE name = ?").get(`${name}_config`)
  if (!isIndex) return []
  return db
    .query<{ k: string; v: SQLQueryBindings }, []>(`SELECT k, v FROM ${name}_config`)
    .all()
    .filter(({ k }) => k !== "version")
    .map(({ k, v }) => `INSERT INTO ${name} (${name}, rank) VALUES ('${k}', ${literal(v)});`)
}

function literal(value: SQLQueryBindings): string {
  if (value === null) return "NULL"
  return typeof value === "number" ? String(value) : `'${String(value).replaceAll("'", "''")}'`
}
