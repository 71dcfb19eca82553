/** The journal of nights: what was planned, what became of it, and how each touched record was before. */
import { parseJson } from "../lib/json.ts"
import type { MemoryRow } from "../memory/store/memory-table.ts"
import type { CorpusFigures, RunState, SleepOp } from "../schema/sleep.ts"
import type { Store } from "../store/open.ts"

/** `before` null: it was made. `after` null: it went to the archive. */
export interface Change {
  memoryId: number
  before: MemoryRow | null
  after: MemoryRow | null
}

export interface RunRow {
  id: number
  boundary: number | null
  dry_run: number
  state: RunState
  started_at: number
  ended_at: number | null
  undone_at: number | null
  before: string | null
  after: string | null
}

export interface PhaseRow {
  position: number
  stage: string
  name: string
  calls: number
  note: string | null
  at: number
}

export interface NewPhase {
  runId: number
  position: number
  stage: string
  name: string
  calls: number
  note: string | null
  digest: string | null
  at: number
  ops: readonly SleepOp[]
  changes: readonly Change[]
}

export type SleepStore = ReturnType<typeof createSleepStore>

export const createSleepStore = ({ db }: Pick<Store, "db">) => ({
  ...runs(db),
  ...phases(db),
  ...changes(db),
  ...schedule(db),
})

type Db = Store["db"]

function runs(db: Db) {
  return {
    begin: (run: { boundary: number | null; dryRun: boolean; at: number; before: CorpusFigures }) =>
      db
        .query<{ id: number }, [number | null, number, number, string]>(
          `INSERT INTO sleep_runs (boundary, dry_run, state, started_at, before)
           VALUES (?, ?, 'running', ?, ?) RETURNING id`,
        )
        .get(run.boundary, run.dryRun ? 1 : 0, run.at, JSON.stringify(run.before))!.id,
    end: (id: number, end: { state: RunState; at: number; after: CorpusFigures }): void => {
      db.query("UPDATE sleep_runs SET state = ?, ended_at = ?, after = ? WHERE id = ?").run(
        end.state,
        end.at,
        JSON.stringify(end.after),
        id,
      )
    },
    /** Nights that a killed kernel left open; their number. */
    interruptOpen: (): number =>
      db.query("UPDATE sleep_runs SET state = 'interrupted' WHERE state = 'running'").run().changes,
    find: (id: number) =>
      db.query<RunRow, [number]>("SELECT * FROM sleep_runs WHERE id = ?").get(id) ?? undefined,
    /** Newest first. */
    list: (page: { limit: number; before: number | undefined }) =>
      db
        .query<RunRow, [number, number]>(
          "SELECT * FROM sleep_runs WHERE id < ? ORDER BY id DESC LIMIT ?",
        )
        .all(page.before ?? Number.MAX_SAFE_INTEGER, page.limit),
    markUndone: (id: number, at: number): void => {
      db.query("UPDATE sleep_runs SET undone_at = ? WHERE id = ?").run(at, id)
    },
  }
}

function phases(db: Db) {
  const add = (phase: NewPhase): void => {
    const { runId, position, stage, name, calls, note, digest, at } = phase
    db.query(
      `INSERT INTO sleep_phases (run_id, position, stage, name, calls, note, digest, at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    ).run(runId, position, stage, name, calls, note, digest, at)
    for (const { op, outcome, reason } of phase.ops) {
      db.query(
        "INSERT INTO sleep_ops (run_id, position, op, outcome, reason) VALUES (?, ?, ?, ?, ?)",
      ).run(runId, position, JSON.stringify(op), outcome, reason)
    }
    for (const { memoryId, before, after } of phase.changes) {
      db.query(
        "INSERT INTO sleep_changes (run_id, memory_id, before, after) VALUES (?, ?, ?, ?)",
      ).run(runId, memoryId, before && JSON.stringify(before), after && JSON.stringify(after))
    }
  }
  return {
    addPhase: add,
    phasesOf: (runId: number) =>
      db
        .query<PhaseRow, [number]>("SELECT * FROM sleep_phases WHERE run_id = ? ORDER BY position")
        .all(runId),
    opsOf: (runId: number, position: number): SleepOp[] =>
      db
        .query<{ op: string; outcome: SleepOp["outcome"]; reason: string | null }, number[]>(
          "SELECT op, outcome, reason FROM sleep_ops WHERE run_id = ? AND position = ? ORDER BY id",
        )
        .all(runId, position)
        .map(({ op, ...rest }) => ({ op: parseJson(op) as SleepOp["op"], ...rest })),
    /** Of what the phase looked at when it was last applied. */
    lastDigest: (name: string): string | undefined =>
      db
        .query<{ digest: string }, [string]>(
          `SELECT digest FROM sleep_phases WHERE name = ? AND digest IS NOT NULL
           ORDER BY run_id DESC LIMIT 1`,
        )
        .get(name)?.digest,
    spare: (id: number, at: number): void => {
      db.query(
        `INSERT INTO sleep_spared (memory_id, at) VALUES (?, ?)
         ON CONFLICT (memory_id) DO UPDATE SET at = excluded.at`,
      ).run(id, at)
    },
    sparedSince: (at: number): Set<number> =>
      new Set(
        db
          .query<{ memory_id: number }, [number]>("SELECT memory_id FROM sleep_spared WHERE at > ?")
          .all(at)
          .map((row) => row.memory_id),
      ),
  }
}

function changes(db: Db) {
  const erase = (id: number): void => {
    db.query("DELETE FROM sleep_changes WHERE memory_id = ?").run(id)
    db.query(
      `DELETE FROM sleep_ops WHERE json_extract(op, '$.id') = ?1 OR json_extract(op, '$.by') = ?1
       OR EXISTS (SELECT 1 FROM json_each(op, '$.ids') WHERE value = ?1)`,
    ).run(id)
  }
  return {
    /** Newest first. */
    changesOf: (runId: number): Change[] =>
      db
        .query<{ memory_id: number; before: string | null; after: string | null }, [number]>(
          "SELECT memory_id, before, after FROM sleep_changes WHERE run_id = ? ORDER BY id DESC",
        )
        .all(runId)
        .map(({ memory_id, before, after }) => ({
          memoryId: memory_id,
          before: before === null ? null : (parseJson(before) as MemoryRow),
          after: after === null ? null : (parseJson(after) as MemoryRow),
        })),
    /** What was purged leaves the journal, too: how it was, and what was planned about it. */
    erase,
    /** The same for all that is in neither memory nor archive any more. */
    eraseOrphans: (): void => {
      const orphans = db
        .query<{ memory_id: number }, []>(
          `SELECT DISTINCT memory_id FROM sleep_changes
           WHERE memory_id NOT IN (SELECT id FROM memories)
             AND memory_id NOT IN (SELECT id FROM memory_archive)`,
        )
        .all()
      for (const { memory_id } of orphans) erase(memory_id)
    },
  }
}

function schedule(db: Db) {
  return {
    /** How often this moment's sleep was begun, and whether it needs no more. */
    boundary: (at: number) =>
      db
        .query<{ attempts: number; served: number }, [number]>(
          "SELECT attempts, served FROM sleep_boundaries WHERE at = ?",
        )
        .get(at) ?? { attempts: 0, served: 0 },
    claim: (at: number): void => {
      db.query("DELETE FROM sleep_boundaries WHERE at < ?").run(at)
      db.query(
        `INSERT INTO sleep_boundaries (at, attempts, served) VALUES (?, 1, 0)
         ON CONFLICT (at) DO UPDATE SET attempts = attempts + 1`,
      ).run(at)
    },
    serve: (at: number): void => {
      db.query(
        `INSERT INTO sleep_boundaries (at, attempts, served) VALUES (?, 0, 1)
         ON CONFLICT (at) DO UPDATE SET served = 1`,
      ).run(at)
    },
  }
}
