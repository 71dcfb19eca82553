/** A turn that says the same call again and again is told so, and gets the neighbours of the tool in reach. */
import { afterEach, describe, expect, test } from "bun:test"
import { Type } from "@sinclair/typebox"
import type { Send } from "../../src/schema/send.ts"
import type { Tool } from "../../src/tools/tool.ts"
import { plan, type TestKernel, testKernel, texts } from "../support/kernel.ts"

let kernel: TestKernel
afterEach(() => kernel.dispose())

const NOTE = "[kernel] The same call came"

const tool = (name: string, more: Partial<Tool> = {}): Tool => ({
  ...{ name, group: "alarms", description: `Tool ${name}.`, gates: [], traits: {} },
  input: Type.Object({}, { additionalProperties: true }),
  run: async () => ({ output: `${name} ran` }),
  ...more,
})

/** `alarm_list` is offered; `alarm_create` and whatever else is kept on demand. */
async function start(...hidden: Tool[]) {
  const names = ["alarm_create", ...hidden.map(({ name }) => name)]
  kernel = await testKernel({ config: { tools: { on_demand: names } } })
  kernel.api.registry.registerAll([tool("alarm_list"), tool("alarm_create"), ...hidden])
  return kernel.newChat()
}

/** What the calls of a turn answered, in order. */
async function answers(steps: object[], more: Partial<Send> = { trusted: true }, chat?: string) {
  const body = { text: plan([...steps, { say: "done" }]), ...more }
  const events = await kernel.turn(chat ?? kernel.newChat(), body)
  expect(texts(events)).toBe("done")
  return events.flatMap((event) => (event.type === "tool_result" ? [event] : []))
}

const LIST = { call: "alarm_list", input: { of: "today" } }
const CREATE = { call: "alarm_create", input: {} }
const offered = () => kernel.requests.map(({ tools }) => tools.map(({ name }) => name))

describe("a turn that is stuck", () => {
  test("TOOL-16 TOOL-17 TURN-024 S-25: the third identical call in a row gets a note, and the hidden tools of its family come with the next step", async () => {
    await start(tool("web_get", { group: "web" }))
    const results = await answers([LIST, LIST, LIST, CREATE])
    expect(results.map(({ output }) => output.includes(NOTE))).toEqual([false, false, true, false])
    expect(results[2]!.output).toBe(
      "alarm_list ran\n\n[kernel] The same call came 3 times in a row; it will not answer anything else. Related tools are offered from the next step: alarm_create.",
    )
    expect(results[3]).toMatchObject({ output: "alarm_create ran", is_error: false })
    expect(offered().map((names) => names.includes("alarm_create"))).toEqual([
      ...[false, false, false, true, true],
    ])
    expect(offered().flat()).not.toContain("web_get")
  })

  test("TURN-024: what was loaded is there for this turn and not for the next", async () => {
    const chat = await start()
    await answers([LIST, LIST, LIST], { trusted: true }, chat)
    const [refused] = await answers([CREATE], { trusted: true }, chat)
    expect(refused).toMatchObject({ is_error: true })
  })

  test("TOOL-18: nothing beyond the rights of the turn is loaded", async () => {
    await start(tool("alarm_erase", { gates: ["master_only"] }))
    const steps = [LIST, LIST, LIST, CREATE, { call: "alarm_erase" }]
    const guest = await answers(steps, { guest: true })
    expect(guest.map(({ is_error }) => is_error)).toEqual([false, false, false, false, true])
    expect(guest[4]!.output).toContain("only the master may have it used")
    const listed = { guest: true, tools: ["alarm_list"] }
    const bounded = await answers(steps, listed)
    expect(bounded[2]!.output).toContain(NOTE)
    expect(bounded.map(({ is_error }) => is_error)).toEqual([false, false, false, true, true])
  })

  test("TOOL-19 TURN-025: any other call in between breaks the row", async () => {
    await start()
    const other = { call: "alarm_list", input: { of: "tomorrow" } }
    const results = await answers([LIST, LIST, other, LIST, LIST, other, LIST])
    expect(results.map(({ output }) => output)).toEqual(Array(7).fill("alarm_list ran"))
    expect(offered().flat()).not.toContain("alarm_create")
  })

  test("S-25: the row counts within one turn, over its steps and within one answer", async () => {
    const chat = await start()
    await answers([LIST, LIST], { trusted: true }, chat)
    const next = await answers([LIST, LIST], { trusted: true }, chat)
    expect(next.map(({ output }) => output)).toEqual(Array(2).fill("alarm_list ran"))
    const call = { name: "alarm_list", input: {} }
    const batch = await answers([{ calls: [call, call, call] }])
    expect(batch.map(({ output }) => output.includes(NOTE))).toEqual([false, false, true])
  })

  test("a call by a wrong name is told so, too, and loads nothing", async () => {
    await start()
    const wrong = { call: "alarm_creat" }
    const results = await answers([wrong, wrong, wrong])
    expect(results[2]!.output).toEndWith(
      "Use another tool or other arguments, or say what stands in the way.",
    )
  })
})
