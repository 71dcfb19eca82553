/** Brings a database to the newest schema, each migration with its number in one transaction. */
import { Database } from "bun:sqlite"
import { errorText, KernelError } from "../lib/error.ts"
import type { Log } from "../lib/log.ts"
import type { Migration } from "./migrations.ts"

export interface MigrateOptions {
  db: Database
  path: string
  migrations: readonly Migration[]
  log: Log
}

/**
 * Applies what is missing. Before the first change of a database that already holds data a verified copy is
 * left beside it. Throws KernelError("config") when the database is newer than this program.
 */
export function migrate(options: MigrateOptions): void {
  const { db, path, migrations, log } = options
  const current = schemaVersion(db)
  const newest = migrations.at(-1)?.version ?? 0
  if (current > newest) {
    throw new KernelError(
      "config",
      `${path} has schema version ${current}, newer than ${newest} which this program knows: start the newer eva-kernel that wrote it, or restore the copy made before the upgrade`,
      { path: "db.path" },
    )
  }
  const missing = migrations.filter((migration) => migration.version > current)
  if (missing.length === 0) return
  if (current > 0)
    log.info("database copied before migration", { copy: copyBefore(db, path, current) })
  for (const migration of missing) apply(db, migration)
  if (current > 0) log.info("database migrated", { from: current, to: newest })
}

export function schemaVersion(db: Database): number {
  const row = db.query<{ user_version: number }, []>("PRAGMA user_version").get()
  return row?.user_version ?? 0
}

function apply(db: Database, migration: Migration): void {
  db.transaction(() => {
    db.run(migration.sql)
    db.run(`PRAGMA user_version = ${migration.version}`)
  }).immediate()
}

/** A copy made by SQLite itself, opened again and checked; its path. */
function copyBefore(db: Database, path: string, version: number): string {
  const copy = `${path}.schema-${version}-${Bun.randomUUIDv7().slice(0, 8)}.bak`
  db.run("VACUUM INTO ?", [copy])
  const check = new Database(copy, { readonly: true })
  try {
    const verdict = check.query<{ quick_check: string }, []>("PRAGMA quick_check").get()
    if (verdict?.quick_check !== "ok") throw new Error(`quick_check said ${verdict?.quick_check}`)
  } catch (error) {
    throw new KernelError("internal", `the copy before migration is bad: ${errorText(error)}`)
  } finally {
    check.close()
  }
  return copy
}
