/** The tool `turn_plan`: one operation a call, and the whole plan as its answer. */
import { type Static, Type } from "@sinclair/typebox"
import { type Tool, ToolFailure } from "../tools/tool.ts"
import type { PlanOp } from "./apply.ts"
import { planText } from "./plan-text.ts"
import type { Plans } from "./plans.ts"

const OPS = ["init", "start", "done", "drop", "append", "view"] as const
type Op = (typeof OPS)[number]

const closed = { additionalProperties: false }
const PlanInput = Type.Object(
  {
    op: Type.Unsafe<Op>(Type.String({ enum: [...OPS] })),
    tasks: Type.Optional(
      Type.Array(
        Type.Object({ title: Type.String(), phase: Type.Optional(Type.String()) }, closed),
      ),
    ),
    task: Type.Optional(Type.Integer({ description: "Absent: the one in work" })),
    phase: Type.Optional(Type.String({ description: "All that is left of it" })),
    outcome: Type.Optional(Type.String()),
  },
  closed,
)
type PlanInput = Static<typeof PlanInput>

/** What belongs to each operation; anything else beside it is a mistake. */
const FIELDS: Record<Op, readonly (keyof PlanInput)[]> = {
  init: ["tasks"],
  append: ["tasks"],
  start: ["task", "phase"],
  done: ["task", "phase", "outcome"],
  drop: ["task", "phase", "outcome"],
  view: [],
}

export const planTools = ({ plans }: { plans: Pick<Plans, "ofChat" | "apply"> }): Tool[] => [
  {
    ...{ name: "turn_plan", group: "turn", icon: "🗒", brief: "{op}" },
    description:
      "Your plan for work of several steps, one of them in work. init lays it out (no tasks: erases it), append adds, start takes one up, done and drop close one.",
    input: PlanInput,
    gates: ["master_only", "planning_only"],
    traits: { quiet: true },
    run: async ({ chatId }, input) => {
      const op = operationOf(input as PlanInput)
      const tasks = op ? plans.apply(chatId, op) : plans.ofChat(chatId)
      return { output: planText(tasks) || "there is no plan" }
    },
  },
]

/** Undefined for a look. Throws ToolFailure. */
function operationOf({ op, ...given }: PlanInput): PlanOp | undefined {
  const strange = (Object.keys(given) as (keyof typeof given)[]).filter(
    (field) => !FIELDS[op].includes(field),
  )
  if (strange.length > 0) {
    const takes = FIELDS[op].length > 0 ? `takes ${FIELDS[op].join(", ")}` : "takes nothing"
    throw new ToolFailure(`${op} ${takes}, and not ${strange.join(", ")}`)
  }
  const { tasks, ...target } = given
  switch (op) {
    case "view":
      return undefined
    case "init":
    case "append":
      if (tasks === undefined || (op === "append" && tasks.length === 0)) {
        throw new ToolFailure(`${op} needs tasks: a list of {title, phase}`)
      }
      return { op, tasks }
    case "start":
      if (target.task === undefined && target.phase === undefined) {
        throw new ToolFailure("start needs the number of a task, or a phase")
      }
      return { op, ...target }
    default:
      return { op, ...target }
  }
}
