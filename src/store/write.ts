/** The one kind of transaction: immediate, synchronous, whole or not at all. */
import type { Database } from "bun:sqlite"
import { assert, KernelError } from "../lib/error.ts"

/**
 * Runs `work` in one immediate transaction; on disk (fsync) when it returns, undone when it throws. A call
 * inside another is part of the outer one and undone alone when it throws. `work` must be synchronous: an
 * await would commit too early.
 *
 * Throws what `work` throws; KernelError("unavailable") when the disk or the lock fails.
 */
export type Write = <T>(work: () => T extends PromiseLike<unknown> ? never : T) => T

export function createWrite(db: Database): { write: Write; afterCommit: AfterCommit } {
  let depth = 0
  let later: (() => void)[] = []

  const write: Write = (work) => {
    const { begin, commit, undo } = depth === 0 ? TRANSACTION : savepoint(depth)
    const told = later.length
    run(db, begin)
    depth++
    try {
      const result = work()
      assert(!isPromise(result), "the work of a transaction must be synchronous")
      db.run(commit)
      return result
    } catch (error) {
      // After a failure of the disk SQLite may have undone all of it already.
      if (db.inTransaction) for (const sql of undo) db.run(sql)
      later.length = told
      throw asFailure(error)
    } finally {
      depth--
      if (depth === 0) tellNow()
    }
  }

  const tellNow = (): void => {
    const tellers = later
    later = []
    for (const tell of tellers) tell()
  }

  return { write, afterCommit: (tell) => (depth === 0 ? tell() : void later.push(tell)) }
}

/** Runs at once outside a transaction; inside one when it is on disk, and never when it is undone. */
export type AfterCommit = (tell: () => void) => void

interface Bounds {
  begin: string
  commit: string
  undo: readonly string[]
}

const TRANSACTION: Bounds = { begin: "BEGIN IMMEDIATE", commit: "COMMIT", undo: ["ROLLBACK"] }

const savepoint = (depth: number): Bounds => ({
  begin: `SAVEPOINT level_${depth}`,
  commit: `RELEASE level_${depth}`,
  undo: [`ROLLBACK TO level_${depth}`, `RELEASE level_${depth}`],
})

function run(db: Database, sql: string): void {
  try {
    db.run(sql)
  } catch (error) {
    throw asFailure(error)
  }
}

const isPromise = (value: unknown): boolean =>
  typeof value === "object" && value !== null && "then" in value

/** By the start of SQLite's name for the failure: what the world did to us, not a fault of ours. */
const FAILURES: Record<string, string> = {
  SQLITE_BUSY: "the database is held by another program; try again",
  SQLITE_FULL: "the disk of the database is full; nothing was stored",
  SQLITE_IOERR: "the disk of the database fails; nothing was stored",
  SQLITE_READONLY: "the database cannot be written; nothing was stored",
}

function asFailure(error: unknown): unknown {
  const code = error instanceof Error && "code" in error ? String(error.code) : ""
  const name = Object.keys(FAILURES).find((start) => code.startsWith(start))
  return name === undefined
    ? error
    : new KernelError("unavailable", FAILURES[name]!, { cause: error })
}
