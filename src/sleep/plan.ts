/**
 * The plan of a phase: what `sleep_finish` takes, and how an answer is read. A plan that breaks the schema is
 * an error in words that the model can act on.
 */
import { type Static, type TSchema, Type } from "@sinclair/typebox"
import { Value } from "@sinclair/typebox/value"
import { tryParseJson } from "../lib/json.ts"
import { MEMORY_KINDS, MEMORY_LIMITS } from "../schema/memory.ts"
import type { ToolSpec } from "../schema/tool-spec.ts"

export const FINISH = "sleep_finish"

const OPS_MAX = 200
const closed = { additionalProperties: false }
const Id = Type.Integer({ description: "The number in front of a record" })
const Ids = (least: number) => Type.Array(Id, { minItems: least, maxItems: 50 })
const Why = Type.String({ minLength: 1, maxLength: 500, description: "The reason, one sentence" })
const Content = Type.String({
  ...{ minLength: 1, maxLength: MEMORY_LIMITS.content },
  description: "Understandable by itself, with absolute dates, in the language of the records",
})
const Importance = Type.Integer({ minimum: 1, maximum: 5 })
const Kind = Type.Union(MEMORY_KINDS.map((kind) => Type.Literal(kind)))

const op = <T extends string, P extends Record<string, TSchema>>(
  name: T,
  properties: P,
  description: string,
) => Type.Object({ op: Type.Literal(name), ...properties, why: Why }, { ...closed, description })

const Merge = op(
  "merge",
  {
    ids: Ids(2),
    content: Content,
    kind: Type.Optional(Kind),
    importance: Type.Optional(Importance),
  },
  "Records that say the same become one that says all of it",
)
const Rewrite = op(
  "rewrite",
  { id: Id, content: Content },
  "A record is worded anew: a former state that still means something gets its dates",
)
const Supersede = op(
  "supersede",
  { id: Id, by: Type.Integer({ description: "The newer record that is true instead" }) },
  "A record that a newer one contradicts is let go",
)
const Split = op(
  "split",
  { id: Id, parts: Type.Array(Content, { minItems: 2, maxItems: 8 }) },
  "A record of several topics becomes one record for each",
)
const Derive = op(
  "derive",
  { ids: Ids(2), content: Content, importance: Type.Optional(Importance) },
  "What several events of one sort show becomes a new fact; the events stay",
)
const Forget = op("forget", { id: Id }, "Let this record go")
const SetKind = op("kind", { id: Id, kind: Kind }, "Another kind")
const SetImportance = op("importance", { id: Id, importance: Importance }, "Another importance")

export const PHASE_OPS = {
  cluster: [Merge, Rewrite, Supersede, Split, Derive],
  forget: [Forget],
  kinds: [SetKind, SetImportance],
} as const
export type PlannedPhase = keyof typeof PHASE_OPS

export type MergeOp = Static<typeof Merge>
export type RewriteOp = Static<typeof Rewrite>
export type SupersedeOp = Static<typeof Supersede>
export type SplitOp = Static<typeof Split>
export type DeriveOp = Static<typeof Derive>
export type ForgetOp = Static<typeof Forget>
export type KindOp = Static<typeof SetKind>
export type ImportanceOp = Static<typeof SetImportance>
export type PlanOp =
  | MergeOp
  | RewriteOp
  | SupersedeOp
  | SplitOp
  | DeriveOp
  | ForgetOp
  | KindOp
  | ImportanceOp

/** The records that an operation names. */
export function idsOf(planned: PlanOp): number[] {
  if ("ids" in planned) return planned.ids
  return planned.op === "supersede" ? [planned.id, planned.by] : [planned.id]
}

const planSchema = (phase: PlannedPhase) =>
  Type.Object(
    {
      operations: Type.Array(Type.Union([...(PHASE_OPS[phase] as readonly TSchema[])]), {
        maxItems: OPS_MAX,
        description: "Empty when all is well",
      }),
    },
    closed,
  )

/** The only tool of sleep. Nobody runs it: its arguments are the plan. */
export const finishTool = (phase: PlannedPhase): ToolSpec => ({
  name: FINISH,
  description: "Hands over the plan of this phase and ends it.",
  input_schema: planSchema(phase) as unknown as Record<string, unknown>,
})

export type ReadPlan = { ops: PlanOp[] } | { wrong: string }

/** Arguments of the call, checked. */
export function readPlan(phase: PlannedPhase, input: unknown): ReadPlan {
  const schema = planSchema(phase)
  if (Value.Check(schema, input)) return { ops: input.operations as PlanOp[] }
  return { wrong: misfit(phase, input) }
}

/** Names the first operation that is wrong, and what is wrong with it. */
function misfit(phase: PlannedPhase, input: unknown): string {
  const list = (input as { operations?: unknown } | null)?.operations
  if (!Array.isArray(list)) return "operations: a list is expected"
  if (list.length > OPS_MAX) return `operations: ${OPS_MAX} at most`
  const forms: readonly TSchema[] = PHASE_OPS[phase]
  for (const [index, item] of list.entries()) {
    const named = (item as { op?: unknown } | null)?.op
    const form = forms.find((one) => one.properties.op.const === named)
    if (!form) {
      const known = forms.map((one) => one.properties.op.const).join(", ")
      return `operations[${index}].op: one of ${known} is expected`
    }
    const error = Value.Errors(form, item).First()
    if (error) return `operations[${index}]${error.path.replaceAll("/", ".")}: ${error.message}`
  }
  return "nothing stands beside operations"
}

/** For upstreams that answer a forced call in prose: the JSON in it, fenced or wrapped in words. */
export function planInProse(text: string): unknown {
  const from = text.search(/[[{]/)
  const to = text.lastIndexOf(text[from] === "[" ? "]" : "}")
  const parsed = from >= 0 && to > from ? tryParseJson(text.slice(from, to + 1)) : undefined
  return Array.isArray(parsed?.value) ? { operations: parsed.value } : parsed?.value
}
