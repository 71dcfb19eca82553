/** The plan of the work at hand in one chat: phases, numbered tasks, one of them in work. */
import { type Static, Type } from "@sinclair/typebox"

/** Characters, but for `tasks`. */
export const PLAN_LIMITS = { tasks: 40, title: 120, phase: 40, outcome: 200 } as const

export const TASK_STATUSES = ["pending", "active", "done", "dropped"] as const
export type TaskStatus = (typeof TASK_STATUSES)[number]

export const PlanTask = Type.Object({
  id: Type.Integer({ description: "Its number; no other task of this plan ever has it" }),
  phase: Type.Optional(Type.String({ description: "The group it belongs to" })),
  title: Type.String(),
  status: Type.Unsafe<TaskStatus>(
    Type.Union(
      TASK_STATUSES.map((status) => Type.Literal(status)),
      { description: "active: in work, one task at the most" },
    ),
  ),
  outcome: Type.Optional(Type.String({ description: "How it ended, in one line" })),
})
export type PlanTask = Static<typeof PlanTask>

export const PlanTasks = Type.Array(PlanTask, {
  description: "The whole plan, phase by phase; empty: there is none",
})

export const Plan = Type.Object({ tasks: PlanTasks })

export const PlanDeleted = Type.Object({
  deleted: Type.Boolean({ description: "Whether there was one" }),
})

export const isClosed = ({ status }: PlanTask): boolean => status === "done" || status === "dropped"
