/**
 * One kernel, one file. The lock is an exclusive SQLite transaction on a file beside the database: the
 * operating system drops it when the process dies, however it dies.
 */
import { Database } from "bun:sqlite"
import { errorText, KernelError } from "../lib/error.ts"

/** Held until it is closed. Throws KernelError: "unavailable" when another kernel has it, else "config". */
export function takeLock(path: string): Database {
  let lock: Database | undefined
  try {
    lock = new Database(`${path}.lock`, { create: true })
    lock.run("PRAGMA busy_timeout = 0")
    lock.run("PRAGMA journal_mode = MEMORY")
    lock.run("BEGIN EXCLUSIVE")
    return lock
  } catch (error) {
    lock?.close()
    const isTaken = error instanceof Error && "code" in error && error.code === "SQLITE_BUSY"
    const options = { path: "db.path", cause: error }
    if (isTaken) {
      const message = `${path} is in use by another eva-kernel: stop that one, or give this one its own database`
      throw new KernelError("unavailable", message, options)
    }
    const message = `${path} cannot be used as the database: its lock ${path}.lock: ${errorText(error)}`
    throw new KernelError("config", message, options)
  }
}
