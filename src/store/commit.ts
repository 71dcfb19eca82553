/**
 * Transactions that share one trip to the disk. What many turns want stored in the same moment is committed
 * together: each still succeeds or fails alone, and none is told before the disk has it.
 */
import type { Database } from "bun:sqlite"
import { deferred } from "../lib/async.ts"
import type { Write } from "./write.ts"

/**
 * Like `write`, but settles a moment later, together with its neighbours. The promise fulfils when the work is
 * on disk and rejects with what the work threw, or with what the disk said.
 */
export type Commit = <T>(work: () => T extends PromiseLike<unknown> ? never : T) => Promise<T>

interface Job {
  /** Does the work in its own savepoint; never throws. */
  run(): void
  /** What the work threw. */
  failure(): unknown
  /** Tells how it went, once it is on disk. */
  settle(): void
  reject(error: unknown): void
}

export function createCommit(db: Database, write: Write): Commit {
  let waiting: Job[] = []

  const flush = (): void => {
    const jobs = waiting
    waiting = []
    try {
      write(() => {
        for (const job of jobs) {
          job.run()
          // A full or failing disk makes SQLite undo the whole batch by itself.
          if (!db.inTransaction) throw job.failure()
        }
      })
    } catch (error) {
      for (const job of jobs) job.reject(error)
      return
    }
    for (const job of jobs) job.settle()
  }

  return (work) => {
    const job = createJob(write, work)
    // The first of a moment opens the batch; all that join before the flush go with it.
    if (waiting.length === 0) setImmediate(flush)
    waiting.push(job)
    return job.done
  }
}

function createJob<T>(
  write: Write,
  work: () => T extends PromiseLike<unknown> ? never : T,
): Job & { done: Promise<T> } {
  const { promise, resolve, reject } = deferred<T>()
  let outcome: { value: T } | { error: unknown } = { error: new Error("the work never ran") }
  return {
    done: promise,
    reject,
    run: () => {
      try {
        outcome = { value: write(work) }
      } catch (error) {
        outcome = { error }
      }
    },
    failure: () => ("error" in outcome ? outcome.error : undefined),
    settle: () => ("value" in outcome ? resolve(outcome.value) : reject(outcome.error)),
  }
}
