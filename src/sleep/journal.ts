/** Nights as clients read them. */
import { isoTime } from "../lib/clock.ts"
import { parseJson } from "../lib/json.ts"
import type { CorpusFigures, SleepRun } from "../schema/sleep.ts"
import type { RunRow, SleepStore } from "./store.ts"

export function toRun(journal: SleepStore, row: RunRow): SleepRun {
  return {
    id: row.id,
    state: row.state,
    due_at: timeOrNull(row.boundary),
    dry_run: row.dry_run === 1,
    started_at: isoTime(row.started_at),
    ended_at: timeOrNull(row.ended_at),
    undone_at: timeOrNull(row.undone_at),
    before: figuresOrNull(row.before),
    after: figuresOrNull(row.after),
    phases: journal.phasesOf(row.id).map(({ position, stage, name, calls, note, at }) => ({
      ...{ stage, name, calls, note, at: isoTime(at) },
      ops: journal.opsOf(row.id, position),
    })),
  }
}

const timeOrNull = (ms: number | null): string | null => (ms === null ? null : isoTime(ms))

const figuresOrNull = (json: string | null): CorpusFigures | null =>
  json === null ? null : (parseJson(json) as CorpusFigures)
