/**
 * The only place that opens the database for writing: pragmas, the lock against a second kernel, migrations
 * and the one kind of transaction.
 */
import { Database } from "bun:sqlite"
import { chmodSync, existsSync, mkdirSync, statSync } from "node:fs"
import { dirname } from "node:path"
import { errorText, KernelError } from "../lib/error.ts"
import type { Log } from "../lib/log.ts"
import { migrate } from "./migrate.ts"
import { MIGRATIONS, type Migration } from "./migrations.ts"

/** A WAL that a checkpoint has emptied is cut to this size. */
const WAL_LIMIT_BYTES = 16 * 1024 * 1024
const BUSY_TIMEOUT_MS = 200

export interface Store {
  readonly path: string
  /** For prepared reads and writes inside `write`; statements are cached by their text. */
  readonly db: Database
  /**
   * Runs `work` in one immediate transaction; on disk (fsync) when it returns, undone when it throws.
   * `work` must be synchronous: an await would commit too early.
   */
  write<T>(work: () => T extends Promise<unknown> ? never : T): T
  close(): void
}

export interface OpenOptions {
  path: string
  log: Log
  migrations?: readonly Migration[]
}

export function openStore(options: OpenOptions): Store {
  const { path } = options
  const isNew = !existsSync(path)
  prepareFolder(path)
  const lock = takeLock(path)
  let db: Database | undefined
  try {
    db = new Database(path, { strict: true, create: true })
    setPragmas(db)
    if (isNew) chmodSync(path, 0o600)
    migrate({ db, path, migrations: options.migrations ?? MIGRATIONS, log: options.log })
  } catch (error) {
    db?.close()
    lock.close()
    if (error instanceof KernelError) throw error
    throw new KernelError(
      "config",
      `${path} cannot be used as the database: ${errorText(error)}. The file is left as it is; restore a backup or name another file`,
      { path: "db.path", cause: error },
    )
  }
  return asStore(path, db, lock)
}

function asStore(path: string, db: Database, lock: Database): Store {
  let depth = 0
  return {
    path,
    db,
    write: (work) => {
      if (depth > 0) return work()
      db.run("BEGIN IMMEDIATE")
      depth++
      try {
        const result = work()
        db.run("COMMIT")
        return result
      } catch (error) {
        if (db.inTransaction) db.run("ROLLBACK")
        throw error
      } finally {
        depth--
      }
    },
    close: () => {
      db.run("PRAGMA wal_checkpoint(TRUNCATE)")
      db.close()
      lock.close()
    },
  }
}

function setPragmas(db: Database): void {
  db.run("PRAGMA journal_mode = WAL")
  db.run("PRAGMA synchronous = FULL")
  db.run("PRAGMA foreign_keys = ON")
  db.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
  db.run(`PRAGMA journal_size_limit = ${WAL_LIMIT_BYTES}`)
  db.run("PRAGMA temp_store = MEMORY")
}

/** Makes the folder for the owner alone; an existing one is left as it is. */
function prepareFolder(path: string): void {
  const folder = dirname(path)
  try {
    if (!existsSync(folder)) mkdirSync(folder, { recursive: true, mode: 0o700 })
    if (existsSync(path) && statSync(path).isDirectory()) throw new Error("it is a folder")
  } catch (error) {
    throw new KernelError("config", `${path} cannot be the database file: ${errorText(error)}`, {
      path: "db.path",
      cause: error,
    })
  }
}

/**
 * One kernel, one file. The lock is an exclusive SQLite transaction on a file beside the database: the
 * operating system drops it when the process dies, however it dies.
 */
function takeLock(path: string): Database {
  let lock: Database | undefined
  try {
    lock = new Database(`${path}.lock`, { create: true })
    lock.run("PRAGMA busy_timeout = 0")
    lock.run("PRAGMA journal_mode = MEMORY")
    lock.run("BEGIN EXCLUSIVE")
    return lock
  } catch (error) {
    lock?.close()
    const busy = error instanceof Error && "code" in error && error.code === "SQLITE_BUSY"
    throw new KernelError(
      "config",
      busy
        ? `${path} is in use by another eva-kernel: stop that one, or give this one its own db.path`
        : `${path} cannot be locked: ${errorText(error)}`,
      { path: "db.path", cause: error },
    )
  }
}
