/** Sleep as clients see it: whether the kernel sleeps, and the journal of its nights. */
import { type Static, Type } from "@sinclair/typebox"

const Instant = Type.String({ format: "date-time" })
const orNull = <T extends ReturnType<typeof Type.String>>(schema: T, description: string) =>
  Type.Union([schema, Type.Null()], { description })

export const CorpusFigures = Type.Object({
  memories: Type.Integer(),
  core: Type.Integer(),
  junk_rate: Type.Number({
    description: "Share of records that say what another says, or could be forgotten; 0 … 1",
  }),
})
export type CorpusFigures = Static<typeof CorpusFigures>

export const SLEEP_STATES = ["awake", "falling_asleep", "asleep"] as const
export type SleepState = (typeof SLEEP_STATES)[number]

export const SleepStatus = Type.Object({
  state: Type.Union(
    SLEEP_STATES.map((state) => Type.Literal(state)),
    { description: "falling_asleep: running turns end first, new ones wait already" },
  ),
  enabled: Type.Boolean({ description: "It also sleeps by itself, at `sleep.at`" }),
  next_at: Type.String({
    format: "date-time",
    description: "When it is due: in the past while a night is owed",
  }),
  run_id: Type.Union([Type.Integer(), Type.Null()], { description: "Of the night that runs" }),
  phase: Type.Union([Type.String(), Type.Null()], { description: "What it is at" }),
})
export type SleepStatus = Static<typeof SleepStatus>

export const OP_OUTCOMES = ["applied", "planned", "refused"] as const

export const SleepOp = Type.Object({
  op: Type.Record(Type.String(), Type.Unknown(), { description: "As the model planned it" }),
  outcome: Type.Union(
    OP_OUTCOMES.map((outcome) => Type.Literal(outcome)),
    { description: "planned: a dry run would have applied it" },
  ),
  reason: orNull(Type.String(), "Why it was refused"),
})
export type SleepOp = Static<typeof SleepOp>

export const SleepPhase = Type.Object({
  stage: Type.String(),
  name: Type.String(),
  calls: Type.Integer({ description: "Answers that a model was asked for" }),
  note: orNull(Type.String(), "What did not work, or why nothing was to be done"),
  at: Instant,
  ops: Type.Array(SleepOp),
})
export type SleepPhase = Static<typeof SleepPhase>

export const RUN_STATES = ["running", "done", "woken", "failed", "interrupted"] as const
export type RunState = (typeof RUN_STATES)[number]

export const SleepRun = Type.Object({
  id: Type.Integer(),
  state: Type.Union(RUN_STATES.map((state) => Type.Literal(state))),
  due_at: orNull(Instant, "The time that it kept; null when it was asked for"),
  dry_run: Type.Boolean(),
  started_at: Instant,
  ended_at: orNull(Instant, "null while it runs, and when the kernel died in it"),
  undone_at: orNull(Instant, "When it was taken back"),
  before: Type.Union([CorpusFigures, Type.Null()]),
  after: Type.Union([CorpusFigures, Type.Null()]),
  phases: Type.Array(SleepPhase, { description: "Applied ones, in their order" }),
})
export type SleepRun = Static<typeof SleepRun>

export const SleepRuns = Type.Object({ runs: Type.Array(SleepRun) })

export const SleepRunsQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: "Default: 20" })),
  before: Type.Optional(Type.Integer({ description: "Only nights with an id below this one" })),
})

export const SleepUndone = Type.Object({
  undone: Type.Integer({ description: "Records that are as they were before" }),
  skipped: Type.Array(Type.Integer(), {
    description: "Ids of records that were changed, or erased, since then: these are left alone",
  }),
})
export type SleepUndone = Static<typeof SleepUndone>
