/**
 * The only place that opens the database for writing: pragmas, the lock against a second kernel, migrations
 * and the one kind of transaction.
 */
import { Database } from "bun:sqlite"
import { existsSync, mkdirSync, realpathSync, statSync } from "node:fs"
import { dirname } from "node:path"
import { errorText, KernelError } from "../lib/error.ts"
import type { Log } from "../lib/log.ts"
import { type Commit, createCommit } from "./commit.ts"
import { takeLock } from "./lock.ts"
import { migrate, refuseStrange } from "./migrate.ts"
import { MIGRATIONS, type Migration } from "./migrations.ts"
import { type AfterCommit, createWrite, type Write } from "./write.ts"

/** A WAL that a checkpoint has emptied is cut to this size. */
const WAL_LIMIT_BYTES = 16 * 1024 * 1024
const BUSY_TIMEOUT_MS = 200
/** Whatever SQLite creates (database, WAL, lock, copies) is for the owner alone. */
const OWNER_ONLY = 0o077

export interface Store {
  /** Where the file really is, links followed. */
  readonly path: string
  /** For prepared reads and writes inside `write`; statements are cached by their text. */
  readonly db: Database
  readonly write: Write
  /** Like `write` for work that can wait for its neighbours: they share one trip to the disk. */
  readonly commit: Commit
  /** Tells others of a fact once it is on disk. */
  readonly afterCommit: AfterCommit
  /**
   * Empties the WAL into the database: what was overwritten there is nowhere any more. False when a reader
   * holds it.
   */
  emptyLog(): boolean
  /** Empties the WAL into the database and lets the lock go. */
  close(): void
}

export interface OpenOptions {
  path: string
  log: Log
  migrations?: readonly Migration[]
}

/**
 * Throws KernelError: "unavailable" when another kernel has the database, "config" when the path or the file
 * cannot be used; then the file is as it was before.
 */
export function openStore(options: OpenOptions): Store {
  const before = process.umask(OWNER_ONLY)
  try {
    return openPrivate(options)
  } finally {
    process.umask(before)
  }
}

function openPrivate({ path: wanted, log, migrations = MIGRATIONS }: OpenOptions): Store {
  const path = preparePath(wanted)
  const lock = takeLock(path)
  let db: Database | undefined
  try {
    db = new Database(path, { strict: true, create: true })
    // First of all: what follows needs a lock that a program which looks into the file may hold.
    db.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
    refuseStrange({ db, path, migrations })
    setPragmas(db)
    migrate({ db, path, migrations, log })
  } catch (error) {
    db?.close()
    lock.close()
    if (error instanceof KernelError) throw error
    throw unusable(path, `${errorText(error)}. The file is left as it is`, error)
  }
  return asStore(path, db, lock)
}

function asStore(path: string, db: Database, lock: Database): Store {
  const { write, afterCommit } = createWrite(db)
  return {
    ...{ path, db, write, afterCommit },
    commit: createCommit(db, write),
    emptyLog: () =>
      db.query<{ busy: number }, []>("PRAGMA wal_checkpoint(TRUNCATE)").get()?.busy === 0,
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
  db.run(`PRAGMA journal_size_limit = ${WAL_LIMIT_BYTES}`)
  db.run("PRAGMA temp_store = MEMORY")
  // What is erased is overwritten: forgetting must hold against whoever reads the file.
  db.run("PRAGMA secure_delete = ON")
}

/**
 * Makes the folder, for the owner alone; an existing one is left as it is. Gives the path without links, so
 * that one file has one lock by whatever name it is called.
 */
function preparePath(path: string): string {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    if (!existsSync(path)) return path
    if (statSync(path).isDirectory()) throw new Error("it is a folder")
    return realpathSync(path)
  } catch (error) {
    throw unusable(path, errorText(error), error)
  }
}

const unusable = (path: string, why: string, cause: unknown): KernelError =>
  new KernelError("config", `${path} cannot be used as the database: ${why}`, {
    path: "db.path",
    cause,
  })
