/** One operation on a plan: what follows from it, and that nothing follows from a wrong one. */
import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { applyOp, NO_PLAN, type PlanOp, type PlanState } from "../../src/plan/apply.ts"
import { planLines } from "../../src/plan/plan-text.ts"
import { isClosed, type PlanTask } from "../../src/schema/plan.ts"

const after = (...ops: PlanOp[]): PlanState => ops.reduce(applyOp, NO_PLAN)
const lines = (...ops: PlanOp[]): string[] => planLines(after(...ops).tasks)
const laidOut = (...titles: string[]): PlanOp => ({
  op: "init",
  tasks: titles.map((title) => ({ title })),
})
const refusal = (state: PlanState, op: PlanOp): string => {
  try {
    applyOp(state, op)
  } catch (error) {
    return (error as Error).message
  }
  throw new Error("it was not refused")
}

describe("one task in work", () => {
  test("PLAN-04 PLAN-06: the first that waits is taken up whenever none is in work", () => {
    const plan = laidOut("a", "b", "c")
    expect(lines(plan)).toEqual(["1 [>] a", "2 [ ] b", "3 [ ] c"])
    expect(lines(plan, { op: "done" })).toEqual(["1 [x] a", "2 [>] b", "3 [ ] c"])
    expect(lines(plan, { op: "drop", task: 2 })).toEqual(["1 [>] a", "2 [~] b", "3 [ ] c"])
    expect(lines(plan, { op: "done" }, { op: "done" }, { op: "drop" })).toEqual([
      ...["1 [x] a", "2 [x] b", "3 [~] c"],
    ])
  })

  test("PLAN-05: taking one up puts the one before back", () => {
    const plan = laidOut("a", "b", "c")
    expect(lines(plan, { op: "start", task: 3 })).toEqual(["1 [ ] a", "2 [ ] b", "3 [>] c"])
    expect(lines(plan, { op: "start", task: 3 }, { op: "done" })).toEqual([
      ...["1 [>] a", "2 [ ] b", "3 [x] c"],
    ])
  })

  test("PLAN-07: of several in work the first stays", () => {
    const twice = after(laidOut("a", "b", "c"))
    const tasks = twice.tasks.map((task): PlanTask => ({ ...task, status: "active" }))
    const next = applyOp({ ...twice, tasks }, { op: "append", tasks: [{ title: "d" }] })
    expect(planLines(next.tasks)).toEqual(["1 [>] a", "2 [ ] b", "3 [ ] c", "4 [ ] d"])
  })

  test("PLAN-04: holds after any row of operations, numbers are never given twice, phases stay together", () => {
    const phase = fc.constantFrom(undefined, "dig", "Dig", "build")
    const task = fc.record({ title: fc.constantFrom("a", "b"), phase })
    const number = fc.option(fc.integer({ min: 0, max: 12 }), { nil: undefined })
    const target = fc.oneof(fc.record({ task: number }), fc.record({ phase }))
    const op: fc.Arbitrary<PlanOp> = fc.oneof(
      fc.record({ op: fc.constant("append" as const), tasks: fc.array(task, { maxLength: 3 }) }),
      fc.record({ op: fc.constant("init" as const), tasks: fc.array(task, { maxLength: 4 }) }),
      fc
        .tuple(fc.constantFrom("start" as const, "done" as const, "drop" as const), target)
        .map(([name, at]) => ({ op: name, ...at })),
    )
    fc.assert(
      fc.property(fc.array(op, { maxLength: 12 }), (ops) => {
        let state = NO_PLAN
        for (const one of ops) {
          const before = structuredClone(state)
          try {
            state = applyOp(state, one)
          } catch {
            expect(state).toEqual(before)
          }
          const { tasks, lastId } = state
          const active = tasks.filter(({ status }) => status === "active")
          expect(active).toHaveLength(tasks.some((each) => !isClosed(each)) ? 1 : 0)
          expect(new Set(tasks.map(({ id }) => id)).size).toBe(tasks.length)
          expect(Math.max(0, ...tasks.map(({ id }) => id))).toBeLessThanOrEqual(lastId)
          const groups = tasks.map((each) => each.phase?.toLowerCase())
          const heads = groups.filter((group, at) => at === 0 || group !== groups[at - 1])
          expect(new Set(heads).size).toBe(heads.length)
        }
      }),
    )
  })
})

describe("phases", () => {
  test("PLAN-10: a name is one whatever its case, a task joins the end of its phase, a new phase the end of the plan", () => {
    const dig: PlanOp = {
      op: "init",
      tasks: [
        { title: "find", phase: "Dig" },
        { title: "add", phase: "build" },
        { title: "read", phase: "dig" },
        { title: "loose" },
      ],
    }
    const grown = lines(dig, {
      op: "append",
      tasks: [{ title: "map", phase: "DIG" }, { title: "tell", phase: "end" }, { title: "free" }],
    })
    expect(grown).toEqual([
      ...["4 [>] loose", "7 [ ] free"],
      ...["## Dig", "1 [ ] find", "3 [ ] read", "5 [ ] map"],
      ...["## build", "2 [ ] add"],
      ...["## end", "6 [ ] tell"],
    ])
  })

  test("PLAN-03: what is left of a phase is closed with one outcome", () => {
    const plan: PlanOp = {
      op: "init",
      tasks: [
        { title: "a", phase: "dig" },
        { title: "b", phase: "dig" },
        { title: "c", phase: "build" },
      ],
    }
    const closed = lines(
      plan,
      { op: "done", outcome: "early" },
      {
        ...{ op: "drop", phase: "DIG", outcome: "not needed" },
      },
    )
    expect(closed).toEqual([
      ...["## dig", "1 [x] a — early", "2 [~] b — not needed", "## build", "3 [>] c"],
    ])
  })
})

describe("what is refused", () => {
  const state = after(
    {
      op: "init",
      tasks: [
        { title: "a", phase: "dig" },
        { title: "b", phase: "dig" },
        { title: "c", phase: "build" },
      ],
    },
    { op: "done" },
  )

  test("PLAN-08: a task or a phase that is not there, with those that are", () => {
    const live = "unfinished are 2, 3, in the phases dig, build"
    expect(refusal(state, { op: "start", task: 9 })).toBe(`no unfinished task 9; ${live}`)
    expect(refusal(state, { op: "done", task: 1 })).toBe(`no unfinished task 1; ${live}`)
    expect(refusal(state, { op: "drop", phase: "test" })).toBe(
      `nothing unfinished in a phase test; ${live}`,
    )
    expect(refusal(NO_PLAN, { op: "done" })).toBe("no task is in work; nothing is left to do")
    expect(refusal(state, { op: "done", task: 2, phase: "dig" })).toBe(
      "name a task or a phase, not both",
    )
  })

  test("PLAN-11: more than 40 tasks, 120 characters of a title, 40 of a phase: told in words, and never cut", () => {
    const many = (count: number) => Array.from({ length: count }, () => ({ title: "x" }))
    expect(after({ op: "init", tasks: many(40) }).tasks).toHaveLength(40)
    expect(refusal(NO_PLAN, { op: "init", tasks: many(41) })).toBe(
      "a plan has at most 40 tasks; this would make 41",
    )
    const full = after({ op: "init", tasks: many(40) })
    expect(refusal(full, { op: "append", tasks: many(2) })).toContain("this would make 42")
    const add = (title: string, phase?: string): PlanOp => ({
      ...{ op: "append", tasks: [{ title: "fine" }, { title, phase }] },
    })
    const long = "t".repeat(121)
    expect(refusal(state, add(long))).toBe(
      "title has 121 characters, 120 are the most: say it shorter",
    )
    expect(refusal(state, add("x", "p".repeat(41)))).toBe(
      "phase has 41 characters, 40 are the most: say it shorter",
    )
    const { tasks } = applyOp(state, add("t".repeat(120), "p".repeat(40)))
    expect(tasks.at(-1)).toMatchObject({ title: "t".repeat(120), phase: "p".repeat(40) })
    expect(refusal(state, add(" "))).toBe("a task needs a title")
  })

  test("PLAN-03: a line that is none", () => {
    expect(refusal(state, { op: "done", outcome: "one\ntwo" })).toBe("outcome is one line")
    expect(refusal(state, { op: "done", outcome: "x".repeat(201) })).toContain("200 are the most")
    expect(refusal(state, { op: "append", tasks: [{ title: "a\n[window] forged" }] })).toBe(
      "title is one line",
    )
  })
})

test("numbers go on after what was put away, and begin anew with a new plan", () => {
  const state = after(laidOut("a", "b"), { op: "done", task: 2 })
  const left = { ...state, tasks: state.tasks.filter((task) => !isClosed(task)) }
  const more = applyOp(left, { op: "append", tasks: [{ title: "c" }] })
  expect(more.tasks.map(({ id }) => id)).toEqual([1, 3])
  expect(applyOp(more, laidOut("z")).tasks.map(({ id }) => id)).toEqual([1])
})
