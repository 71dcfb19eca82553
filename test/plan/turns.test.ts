/** The plan in turns of a whole kernel: who has it, what it looks like, when it goes. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import type { ModelRequest } from "../../src/llm/provider.ts"
import { ITEM_KINDS } from "../../src/schema/item.ts"
import type { PlanTask } from "../../src/schema/plan.ts"
import type { Send } from "../../src/schema/send.ts"
import { isPlanning } from "../../src/turn/mode.ts"
import { plan, type SeenEvent, type TestKernel, testKernel } from "../support/kernel.ts"
import { masterIdentity } from "../support/tools.ts"

let kernel: TestKernel
let chat: string
beforeEach(async () => {
  kernel = await testKernel()
  chat = kernel.newChat()
})
afterEach(() => kernel.dispose())

const DESK = { trusted: true, client_ops: true }
const DIG = {
  op: "init",
  tasks: [
    { title: "find every call site", phase: "dig" },
    { title: "read the config schema", phase: "dig" },
    { title: "add the field", phase: "build" },
  ],
}

/** A working turn of these operations. */
const work = (...ops: object[]): Promise<SeenEvent[]> =>
  kernel.turn(chat, {
    ...DESK,
    text: plan([...ops.map((input) => ({ call: "turn_plan", input })), { say: "done" }]),
  })

const results = (events: readonly SeenEvent[]) =>
  events.flatMap((event) => (event.type === "tool_result" ? [event] : []))

const planEvents = (events: readonly SeenEvent[]): PlanTask[][] =>
  events.flatMap((event) => (event.type === "plan" ? [event.tasks] : []))

const offered = (request = kernel.requests.at(-1)!): boolean =>
  request.tools.some(({ name }) => name === "turn_plan")

function planIn({ messages }: ModelRequest): string {
  const texts = messages.at(-1)!.blocks.flatMap((block) => ("text" in block ? [block.text] : []))
  const state = texts.find((text) => text.startsWith("[state]")) ?? ""
  const from = state.indexOf("\n[plan]")
  return from < 0 ? "" : state.slice(from + 1)
}

const stored = (): PlanTask[] => kernel.api.plans.ofChat(chat)

test("what the model is shown of the tool", () => {
  const { spec } = kernel.api.registry.list().find(({ tool }) => tool.name === "turn_plan")!
  expect(JSON.parse(JSON.stringify(spec))).toMatchSnapshot()
})

describe("the tool", () => {
  test("PLAN-01 PLAN-12 PLAN-13 PLAN-14 PLAN-15: answers with the whole plan as the next request shows it, at the end of [state] and never in the stable part", async () => {
    const events = await work(DIG, { op: "done", outcome: "all in agent.rs" })
    const text = [
      "[plan] Your plan for the work at hand — 3 tasks: 1 done, 0 dropped, 2 left.",
      ...["## dig", "1 [x] find every call site — all in agent.rs", "2 [>] read the config schema"],
      ...["## build", "3 [ ] add the field"],
    ].join("\n")
    expect(results(events).at(-1)).toMatchObject({ output: text, is_error: false })
    const request = kernel.requests.at(-1)!
    expect(planIn(request)).toBe(text)
    expect(new Set(kernel.requests.map(({ system }) => JSON.stringify(system))).size).toBe(1)
    expect(JSON.stringify(request.system)).not.toContain("[plan]")
    expect(kernel.api.registry.info([]).find(({ name }) => name === "turn_plan")).toMatchObject({
      ...{ quiet: true, master_only: true, planning_only: true, group: "turn" },
    })
  })

  test("PLAN-14: counts in the singular, too", async () => {
    await work({ op: "init", tasks: [{ title: "one" }] })
    expect(planIn(kernel.requests.at(-1)!)).toStartWith(
      "[plan] Your plan for the work at hand — 1 task: 0 done, 0 dropped, 1 left.\n1 [>] one",
    )
  })

  test("PLAN-02 TTURN-8: takes one operation, named at the top, and what belongs to it", async () => {
    const [list, batch, strange, bare, view, nothing] = results(
      await work(
        { op: ["init", "view"], tasks: DIG.tasks },
        { ops: [DIG] },
        ...[{ op: "view", task: 1 }, { op: "append" }, { op: "view" }, { op: "start" }],
      ),
    )
    for (const refused of [list, batch, strange, bare, nothing]) {
      expect(refused!.is_error).toBe(true)
    }
    expect(strange!.output).toBe("view takes nothing, and not task")
    expect(bare!.output).toBe("append needs tasks: a list of {title, phase}")
    expect(nothing!.output).toBe("start needs the number of a task, or a phase")
    expect(view).toMatchObject({ output: "there is no plan", is_error: false })
    const { properties } = kernel.api.registry.get("turn_plan")!.input as {
      properties: { op: { enum: string[] } }
    }
    expect(properties.op.enum).toEqual(["init", "start", "done", "drop", "append", "view"])
  })

  test("PLAN-03: tasks have a title and perhaps a phase; done and drop say how it ended", async () => {
    await work(DIG, { op: "drop", task: 3, outcome: "not needed" })
    expect(stored()).toEqual([
      { id: 1, phase: "dig", title: "find every call site", status: "active" },
      { id: 2, phase: "dig", title: "read the config schema", status: "pending" },
      { id: 3, phase: "build", title: "add the field", status: "dropped", outcome: "not needed" },
    ])
  })

  test("PLAN-08 PLAN-09: an operation that fails leaves the plan as it was, and tells nobody", async () => {
    await work(DIG)
    const before = stored()
    const long = { title: "t".repeat(121) }
    const events = await work(
      { op: "append", tasks: [{ title: "fine" }, long] },
      {
        op: "done",
        task: 7,
      },
    )
    expect(stored()).toEqual(before)
    expect(planEvents(events)).toEqual([])
    expect(results(events).map(({ output }) => output)).toEqual([
      "title has 121 characters, 120 are the most: say it shorter",
      "no unfinished task 7; unfinished are 1, 2, 3, in the phases dig, build",
    ])
  })

  test("PLAN-18: init without tasks erases the plan", async () => {
    await work(DIG)
    const events = await work({ op: "init", tasks: [] })
    expect(stored()).toEqual([])
    expect(planEvents(events)).toEqual([[]])
    expect(results(events)[0]!.output).toBe("there is no plan")
    expect(planIn(kernel.requests.at(-1)!)).toBe("")
  })
})

describe("who has it", () => {
  const say = async (body: Partial<Send>, text = "hi"): Promise<boolean> => {
    await kernel.turn(chat, { text, ...body })
    return offered()
  }

  test("PLAN-22 GATE-23: a turn with client operations, one in a set that narrates, a sub-agent's, and one whose plan is open", async () => {
    expect(await say({})).toBe(false)
    expect(await say({ trusted: true })).toBe(false)
    expect(await say(DESK)).toBe(true)
    // Without the trust of a place there are no client operations.
    expect(await say({ client_ops: true })).toBe(false)
    const set = { name: "coding", description: "code", tools: [], narrate: true }
    const call = { call: "toolset_create", input: set }
    await kernel.turn(chat, { text: plan([call, { say: "ok" }]), trusted: true })
    expect(await say({ toolset: "coding" })).toBe(true)
    expect(await say({ toolset: "coding", guest: true })).toBe(false)
    const agent = masterIdentity({ clientOps: false, planning: false, agent: true })
    expect(isPlanning({ identity: agent, narrate: false, hasPlan: false })).toBe(true)
    await work(DIG)
    expect(await say({})).toBe(true)
    expect(planIn(kernel.requests.at(-1)!)).toContain("1 [>] find every call site")
    expect(await say({ guest: true })).toBe(false)
    expect(planIn(kernel.requests.at(-1)!)).toBe("")
    kernel.api.plans.erase(chat)
    expect(await say({})).toBe(false)
  })

  test("PLAN-23: nothing brings it to an ordinary turn", async () => {
    const steps = [
      { call: "tool_load", input: { name: "turn_plan" } },
      { call: "tool_load", input: { name: "turn" } },
      { call: "turn_plan", input: DIG },
      { say: "ok" },
    ]
    const events = await kernel.turn(chat, { text: plan(steps), trusted: true })
    const [loaded, , called] = results(events).map(({ output }) => output)
    const closed = "turn_plan is closed in this turn: a plan is kept only in a working turn"
    expect(loaded).toContain(closed)
    expect(called).toContain(closed)
    expect(kernel.requests.some(offered)).toBe(false)
    expect(JSON.stringify(kernel.requests[0]!.system)).not.toContain("turn_plan")
    expect(stored()).toEqual([])
  })

  test("what a turn may do with its plan is settled at its entry: closing all of it leaves the tools as they were", async () => {
    await work({ op: "init", tasks: [{ title: "a" }] })
    const before = kernel.requests.length
    const steps = [
      { call: "turn_plan", input: { op: "done" } },
      { call: "turn_plan", input: { op: "view" } },
    ]
    await kernel.turn(chat, plan([...steps, { say: "ok" }]))
    expect(kernel.requests.slice(before).map(offered)).toEqual([true, true, true])
    expect(await say({})).toBe(false)
  })
})

test("the report on a prompt weighs the plan and its tool where it is open", async () => {
  const weighed = async () => {
    const { state, tools } = await kernel.api.turns.contextReport(chat)
    return [
      state.some(({ name }) => name === "plan"),
      tools.some(({ name }) => name === "turn_plan"),
    ]
  }
  expect(await weighed()).toEqual([false, false])
  await work(DIG)
  expect(await weighed()).toEqual([true, true])
})

describe("its life", () => {
  test("PLAN-16: what was closed is gone from the next turn on, and numbers stay", async () => {
    await work(DIG, { op: "done" })
    expect(stored()).toHaveLength(3)
    const events = await kernel.turn(chat, "go on")
    expect(planIn(kernel.requests.at(-1)!)).toBe(
      [
        "[plan] Your plan for the work at hand — 2 tasks: 0 done, 0 dropped, 2 left.",
        ...["## dig", "2 [>] read the config schema", "## build", "3 [ ] add the field"],
      ].join("\n"),
    )
    expect(planEvents(events).map((tasks) => tasks.map(({ id }) => id))).toEqual([[2, 3]])
    await work({ op: "append", tasks: [{ title: "more" }] })
    expect(stored().map(({ id }) => id)).toEqual([4, 2, 3])
  })

  test("a guest's turn leaves it alone", async () => {
    await work(DIG, { op: "done" })
    const before = stored()
    await kernel.turn(chat, { text: "hi", guest: true })
    expect(stored()).toEqual(before)
  })

  test("PLAN-17 PLAN-21 SSE-016: every change comes whole, and a finished plan is erased and told empty before the end", async () => {
    const two = { op: "init", tasks: [{ title: "a" }, { title: "b" }] }
    const events = await work(two, { op: "view" }, { op: "done" }, { op: "drop" })
    const states = planEvents(events).map((tasks) => tasks.map(({ status }) => status))
    expect(states).toEqual([["active", "pending"], ["done", "active"], ["done", "dropped"], []])
    expect(stored()).toEqual([])
    const types = events.map(({ type }) => type)
    expect(types.lastIndexOf("plan")).toBeLessThan(types.indexOf("done"))
    expect(types.lastIndexOf("plan")).toBeGreaterThan(types.lastIndexOf("usage"))
    // Nothing of it is stored with the history.
    const messages = kernel.api.messages.page(chat, { limit: 100 })
    expect(messages.flatMap(({ blocks }) => blocks.map(({ type }) => type))).toEqual([
      ...["text" as const, "tool_use" as const, "tool_result" as const],
      ...["tool_use" as const, "tool_result" as const, "tool_use" as const],
      ...["tool_result" as const, "tool_use" as const, "tool_result" as const, "text" as const],
    ])
    const kinds = kernel.api.items.itemPage(chat, {}).map(({ kind }) => kind)
    expect(kinds).not.toContain("plan")
  })

  test("PLAN-17: also when the turn fails, and an unfinished one stays", async () => {
    const call = (input: object) => ({ call: "turn_plan", input })
    const one = call({ op: "init", tasks: [{ title: "a" }] })
    const failing = (...steps: object[]) =>
      kernel.turn(chat, { ...DESK, text: plan([...steps, { fail: "fatal" }]) })
    expect((await failing(one)).at(-1)!.type).toBe("error")
    expect(stored()).toHaveLength(1)
    const events = await failing(call({ op: "done" }))
    expect(events.at(-1)!.type).toBe("error")
    expect(planEvents(events).at(-1)).toEqual([])
    expect(stored()).toEqual([])
  })

  test("PLAN-25 ITM-003 ITM-006: the item of the plan takes each state whole, live and replayed alike", async () => {
    const two = { op: "init", tasks: [{ title: "a" }, { title: "b" }] }
    const events = await work(two, { op: "done" }, { op: "done" })
    const drawn = events.flatMap((event): unknown[] => {
      if (event.type === "item_started" && event.item.kind === "plan") return [event.item]
      if (event.type === "item_delta" && event.delta.tasks) return [event.delta.tasks.length]
      if (event.type === "item_completed" && event.item.kind === "plan") return [event.item]
      return []
    })
    const [started, ...rest] = drawn
    expect(started).toMatchObject({ kind: "plan", status: "running", tasks: [] })
    expect(rest.slice(0, 3)).toEqual([2, 2, 2])
    expect(rest[3]).toMatchObject({
      ...{ kind: "plan", status: "completed", id: (started as { id: string }).id },
      tasks: [{ status: "done" }, { status: "done" }],
    })
    expect(rest).toHaveLength(4)
    expect(Object.keys(ITEM_KINDS).sort()).toEqual([
      ...["agent_message", "client_op", "compaction", "image", "machine_note", "plan"],
      ...["thinking", "tool_call", "user_message"],
    ])
  })

  test("PLAN-24: outlives a fold and the squeeze of a turn, since each request tells it anew", async () => {
    await kernel.dispose()
    kernel = await testKernel({
      config: { context: { compact_after_tokens: 1000, compact_keep_tokens: 300 } },
      mock: {
        answer: ({ system }) =>
          system[0]?.text.startsWith("You end a shift") ? { say: "HANDOVER" } : undefined,
      },
    })
    chat = kernel.newChat()
    const big = {
      op: "init",
      tasks: Array.from({ length: 20 }, () => ({ title: "t".repeat(120) })),
    }
    const steps = [big, ...Array.from({ length: 8 }, () => ({ op: "view" }))]
    const events = await work(DIG, ...steps, DIG)
    expect(events.map(({ type }) => type)).toContain("turn_squeezed")
    expect(planIn(kernel.requests.findLast(offered)!)).toContain("1 [>] find every call site")
    await kernel.turn(chat, "lorem ".repeat(700))
    await kernel.turn(chat, "next")
    const request = kernel.requests.findLast(({ tools }) => tools.length > 0)!
    expect(JSON.stringify(request.messages.at(-1))).toContain("HANDOVER")
    expect(planIn(request)).toContain("1 [>] find every call site")
  })
})
