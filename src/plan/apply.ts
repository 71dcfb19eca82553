/**
 * One operation on a plan, reckoned in memory as a whole: the plan that follows, or an error and no change. After
 * each, exactly one task is in work as long as any is left.
 */
import { KernelError } from "../lib/error.ts"
import { cleanText } from "../lib/text.ts"
import { isClosed, PLAN_LIMITS, type PlanTask } from "../schema/plan.ts"

export interface PlanState {
  /** Phase by phase; those without a phase first. */
  tasks: readonly PlanTask[]
  /** The newest number given; none is given twice. */
  lastId: number
}

export interface NewTask {
  title: string
  phase?: string | undefined
}

/** A task by its number, or all that is left of a phase; neither stands for the task in work. */
export interface Target {
  task?: number | undefined
  phase?: string | undefined
}

export type PlanOp =
  | { op: "init" | "append"; tasks: readonly NewTask[] }
  | ({ op: "start" } & Target)
  | ({ op: "done" | "drop"; outcome?: string | undefined } & Target)

export const NO_PLAN: PlanState = { tasks: [], lastId: 0 }

/** Throws KernelError("invalid") in words for the model. */
export function applyOp(state: PlanState, op: PlanOp): PlanState {
  const { tasks } = state
  switch (op.op) {
    case "init":
      return withOneInWork(withAll(NO_PLAN, op.tasks))
    case "append":
      return withOneInWork(withAll(state, op.tasks))
    case "start": {
      const [first] = targets(tasks, op)
      return withOneInWork({ ...state, tasks: tasks.map((task) => started(task, first!)) })
    }
    case "done":
    case "drop": {
      const closed = new Set(targets(tasks, op))
      const end = { status: op.op === "done" ? ("done" as const) : ("dropped" as const) }
      const outcome = outcomeOf(op.outcome)
      const close = (task: PlanTask): PlanTask =>
        closed.has(task) ? { ...task, ...end, ...(outcome && { outcome }) } : task
      return withOneInWork({ ...state, tasks: tasks.map(close) })
    }
  }
}

/** The first of several stays; with none, the first that waits is taken up. */
function withOneInWork({ tasks, lastId }: PlanState): PlanState {
  const chosen =
    tasks.find(({ status }) => status === "active") ??
    tasks.find(({ status }) => status === "pending")
  const settled = tasks.map((task): PlanTask => {
    if (isClosed(task)) return task
    return { ...task, status: task === chosen ? "active" : "pending" }
  })
  return { tasks: settled, lastId }
}

function started(task: PlanTask, chosen: PlanTask): PlanTask {
  if (isClosed(task)) return task
  return { ...task, status: task === chosen ? "active" : "pending" }
}

/** Each at the end of its phase, a phase that is new at the end of the plan. */
function withAll(state: PlanState, added: readonly NewTask[]): PlanState {
  const { tasks: most } = PLAN_LIMITS
  const count = state.tasks.length + added.length
  if (count > most) throw invalid(`a plan has at most ${most} tasks; this would make ${count}`)
  let { tasks, lastId } = state
  for (const one of added) {
    lastId++
    tasks = withTask(tasks, { ...checked(one), id: lastId, status: "pending" })
  }
  return { tasks, lastId }
}

function withTask(tasks: readonly PlanTask[], task: PlanTask): PlanTask[] {
  const { phase } = task
  const last = tasks.findLastIndex((one) => isIn(one, phase))
  // What has no phase stands above all headings, else it would seem to belong to the last.
  const at = last >= 0 ? last + 1 : phase === undefined ? 0 : tasks.length
  const known = tasks[last]?.phase
  return tasks.toSpliced(at, 0, { ...task, ...(known !== undefined && { phase: known }) })
}

const isIn = (task: PlanTask, phase: string | undefined): boolean =>
  task.phase?.toLowerCase() === phase?.toLowerCase()

function checked({ title, phase }: NewTask): Pick<PlanTask, "title" | "phase"> {
  const name = phase === undefined ? "" : line("phase", phase, PLAN_LIMITS.phase)
  const about = line("title", title, PLAN_LIMITS.title)
  if (about === "") throw invalid("a task needs a title")
  return { title: about, ...(name !== "" && { phase: name }) }
}

const outcomeOf = (outcome: string | undefined): string =>
  outcome === undefined ? "" : line("outcome", outcome, PLAN_LIMITS.outcome)

function line(field: string, value: string, most: number): string {
  const text = cleanText(value).trim()
  if (/[\p{Cc}\u2028\u2029]/u.test(text)) throw invalid(`${field} is one line`)
  if (text.length <= most) return text
  throw invalid(`${field} has ${text.length} characters, ${most} are the most: say it shorter`)
}

/** Unfinished tasks, at least one. */
function targets(tasks: readonly PlanTask[], { task: id, phase }: Target): PlanTask[] {
  const open = tasks.filter((task) => !isClosed(task))
  if (id !== undefined && phase !== undefined) throw invalid("name a task or a phase, not both")
  const found = open.filter((task) => {
    if (id !== undefined) return task.id === id
    return phase === undefined ? task.status === "active" : isIn(task, phase.trim())
  })
  if (found.length > 0) return found
  const missed =
    id !== undefined ? `no unfinished task ${id}` : `nothing unfinished in a phase ${phase}`
  throw invalid(
    `${id === undefined && phase === undefined ? "no task is in work" : missed}; ${liveOnes(open)}`,
  )
}

function liveOnes(open: readonly PlanTask[]): string {
  if (open.length === 0) return "nothing is left to do"
  const phases = new Set(open.flatMap(({ phase }) => phase ?? []))
  const named = phases.size > 0 ? `, in the phases ${[...phases].join(", ")}` : ""
  return `unfinished are ${open.map(({ id }) => id).join(", ")}${named}`
}

const invalid = (message: string): KernelError => new KernelError("invalid", message)
