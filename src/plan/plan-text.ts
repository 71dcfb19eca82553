/** A plan as the model reads it, in the prompt and as the answer of its tool. */
import type { PlanTask, TaskStatus } from "../schema/plan.ts"

const MARKS: Record<TaskStatus, string> = {
  ...{ pending: "[ ]", active: "[>]", done: "[x]", dropped: "[~]" },
}

/** The block `[plan]`; empty without a plan. */
export function planText(tasks: readonly PlanTask[]): string {
  if (tasks.length === 0) return ""
  const count = (status: TaskStatus): number =>
    tasks.filter((task) => task.status === status).length
  const [done, dropped] = [count("done"), count("dropped")]
  const left = tasks.length - done - dropped
  const noun = tasks.length === 1 ? "task" : "tasks"
  const head = `[plan] Your plan for the work at hand — ${tasks.length} ${noun}: ${done} done, ${dropped} dropped, ${left} left.`
  return [head, ...planLines(tasks)].join("\n")
}

/** Headings of phases and a line for each task. */
export function planLines(tasks: readonly PlanTask[]): string[] {
  let phase: string | undefined
  return tasks.flatMap((task) => {
    const heading = task.phase !== undefined && task.phase !== phase ? [`## ${task.phase}`] : []
    phase = task.phase
    const outcome = task.outcome === undefined ? "" : ` — ${task.outcome}`
    return [...heading, `${task.id} ${MARKS[task.status]} ${task.title}${outcome}`]
  })
}
