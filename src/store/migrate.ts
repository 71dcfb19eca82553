/** Brings a database to the newest schema, each migration together with its number. */
import { Database } from "bun:sqlite"
import { closeSync, fsyncSync, openSync, renameSync, rmSync } from "node:fs"
import { errorText, KernelError } from "../lib/error.ts"
import type { Log } from "../lib/log.ts"
import type { Migration } from "./migrations.ts"

/** "eva1" in ASCII, in the header of the file: tells our databases from those of other programs. */
export const APPLICATION_ID = 0x65766131

export interface MigrateOptions {
  db: Database
  path: string
  migrations: readonly Migration[]
  log: Log
}

/**
 * Whether this program may use the file at all, found out without a change to it. Throws
 * KernelError("config") when the database is newer than this program or another program's.
 */
export function refuseStrange({ db, path, migrations }: Omit<MigrateOptions, "log">): void {
  const refuse = (why: string) => {
    throw new KernelError("config", `${path} ${why}`, { path: "db.path" })
  }
  if (isForeign(db)) {
    refuse("is the database of another program: name a file of the kernel's own")
  }
  const [current, newest] = [schemaVersion(db), newestOf(migrations)]
  if (current > newest) {
    refuse(
      `has schema version ${current}, newer than ${newest} which this program knows: start the newer eva-kernel that wrote it, or restore the copy made before the upgrade`,
    )
  }
}

/**
 * Applies what is missing. Before the first change of a database that already holds data a verified copy is
 * left beside it; KernelError("config") when that cannot be made.
 */
export function migrate({ db, path, migrations, log }: MigrateOptions): void {
  const current = schemaVersion(db)
  const missing = migrations.filter((migration) => migration.version > current)
  if (missing.length === 0) return
  if (current > 0)
    log.info("database copied before migration", { copy: copyBefore(db, path, current) })
  // A fresh database has no step to fall back to: all of it costs one trip to the disk.
  const steps = current === 0 ? [missing] : missing.map((migration) => [migration])
  for (const step of steps) apply(db, step)
  if (current > 0) log.info("database migrated", { from: current, to: newestOf(migrations) })
}

const newestOf = (migrations: readonly Migration[]): number => migrations.at(-1)?.version ?? 0

export const schemaVersion = (db: Database): number => headerNumber(db, "user_version")

function headerNumber(db: Database, name: "user_version" | "application_id"): number {
  const row = db.query<Record<string, number>, []>(`PRAGMA ${name}`).get()
  return row?.[name] ?? 0
}

/** It holds something, and not ours. */
function isForeign(db: Database): boolean {
  if (headerNumber(db, "application_id") === APPLICATION_ID) return false
  return db.query("SELECT 1 FROM sqlite_schema LIMIT 1").get() !== null
}

function apply(db: Database, migrations: readonly Migration[]): void {
  db.transaction(() => {
    for (const { sql } of migrations) db.run(sql)
    db.run(`PRAGMA application_id = ${APPLICATION_ID}`)
    db.run(`PRAGMA user_version = ${newestOf(migrations)}`)
  }).immediate()
}

/**
 * A copy made by SQLite itself, opened again, checked and on disk; its path. There is one for each schema
 * version: a migration that fails at every start must not fill the disk with copies.
 */
function copyBefore(db: Database, path: string, version: number): string {
  const copy = `${path}.schema-${version}.bak`
  const draft = `${copy}.tmp`
  try {
    rmSync(draft, { force: true })
    db.run("VACUUM INTO ?", [draft])
    verify(draft)
    flush(draft)
    renameSync(draft, copy)
    return copy
  } catch (error) {
    rmSync(draft, { force: true })
    throw new KernelError(
      "config",
      `${path} cannot be copied before its migration, which is not done: ${errorText(error)}`,
      { path: "db.path", cause: error },
    )
  }
}

function verify(copy: string): void {
  const db = new Database(copy, { readonly: true })
  try {
    const verdict = db.query<{ quick_check: string }, []>("PRAGMA quick_check").get()?.quick_check
    if (verdict !== "ok") throw new Error(`the copy is bad: ${verdict}`)
  } finally {
    db.close()
  }
}

/** VACUUM INTO leaves it to the caller to wait for the disk. */
function flush(copy: string): void {
  const file = openSync(copy, "r+")
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
