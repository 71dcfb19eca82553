/** The report of what fills the prompt, against the request that the provider then really gets. */
import { afterEach, describe, expect, test } from "bun:test"
import type { ContextReport, Weight } from "../../src/schema/context-report.ts"
import type { Tool } from "../../src/tools/tool.ts"
import { plan, type TestKernel, testKernel } from "../support/kernel.ts"

let kernel: TestKernel
afterEach(() => kernel.dispose())

const PAGE: Tool = {
  ...{ name: "page", group: "test", description: "A page.", gates: [], traits: {} },
  input: { type: "object", properties: {} },
  run: async () => ({ output: "страница ".repeat(1000) }),
}

const named = (weights: readonly Weight[]): Record<string, number> =>
  Object.fromEntries(weights.map(({ name, bytes }) => [name, bytes]))
const bytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

async function report(chat: string): Promise<Omit<ContextReport, "last_trip">> {
  return kernel.api.turns.contextReport(chat)
}

describe("the report", () => {
  test("of an empty chat is the prefix and the state, and weighs what the first request weighs", async () => {
    kernel = await testKernel({
      config: { llm: { models: [{ name: "mock", context_window: 9000 }] } },
    })
    const chat = kernel.newChat()
    const told = await report(chat)
    expect(told).toMatchObject({ model: "mock", context_window: 9000, history: [] })
    expect(told.left_out_bytes).toBe(0)
    await kernel.turn(chat, { text: "hi", trusted: true })
    const { system, tools } = kernel.requests[0]!
    expect(told.system.reduce((sum, piece) => sum + piece.bytes, 0)).toBe(
      Buffer.byteLength(system[0]!.text) - 2 * (told.system.length - 1),
    )
    expect(Object.keys(named(told.system))[0]).toBe("persona")
    expect(Object.keys(named(told.system)).at(-1)).toBe("critical")
    expect(named(told.tools)).toEqual(
      Object.fromEntries(tools.map((tool) => [tool.name, bytes(tool)])),
    )
    expect(told.tools.map((tool) => tool.bytes)).toEqual(
      told.tools.map((tool) => tool.bytes).sort((a, b) => b - a),
    )
    expect(named(told.state)).toEqual({ now: expect.any(Number) })
  })

  test("tells people, answers, calls and results apart, and what is left out of them", async () => {
    kernel = await testKernel()
    kernel.api.registry.register(PAGE)
    const chat = kernel.newChat()
    const calls = Array.from({ length: 9 }, () => ({ call: "page" }))
    await kernel.turn(chat, { text: plan([...calls, { say: "Read." }]), trusted: true })
    const told = await report(chat)
    expect(Object.keys(named(told.history)).sort()).toEqual([
      "answers",
      "calls",
      "people",
      "results",
    ])
    const shown = named(told.history)
    // Nine results of 17 kB each: three in short, six cut to size.
    expect(told.left_out_bytes).toBeGreaterThan(100_000)
    expect(shown.results).toBeLessThan(40_000)
    const { history, system, tools, state, total } = told
    const parts = [...history, ...system, ...tools, ...state]
    expect(total.bytes).toBe(parts.reduce((sum, part) => sum + part.bytes, 0))
    expect(total.tokens).toBe(parts.reduce((sum, part) => sum + part.tokens, 0))
    expect(told.stable_share).toBeGreaterThan(0.98)
    expect(told.stable_share).toBeLessThan(1)
  })

  test("has what is recalled, changes nothing, and knows no chat that is not there", async () => {
    kernel = await testKernel()
    const chat = kernel.newChat()
    const save = { call: "memory_save", input: { content: "The boat is called Albatross." } }
    await kernel.turn(chat, { text: plan([save, { say: "Kept." }], "the boat"), trusted: true })
    const before = kernel.api.messages.page(chat, {})
    expect(Object.keys(named((await report(chat)).state))).toEqual(["now", "memory"])
    expect(await report(chat)).toEqual(await report(chat))
    expect(kernel.api.messages.page(chat, {})).toEqual(before)
    expect(kernel.requests).toHaveLength(2)
    expect(report("01890000-0000-7000-8000-000000000000")).rejects.toThrow("no chat")
  })

  test("ends with what the provider counted last for a turn, not for a title or a task", async () => {
    kernel = await testKernel({
      config: { llm: { code_model: "other", models: [{ name: "mock" }, { name: "other" }] } },
    })
    const chat = kernel.newChat()
    expect(kernel.api.spend.lastTrip(chat)).toBeNull()
    const usage = { prompt_tokens: 1000, completion_tokens: 5, cached_tokens: 900 }
    const task = { call: "code_task", input: { task: "sum" } }
    await kernel.turn(chat, { text: plan([task, { say: "Done.", usage }]), trusted: true })
    expect(kernel.api.spend.lastTrip(chat)).toEqual({
      model: "mock",
      prompt_tokens: 1000,
      cached_tokens: 900,
      cache_write_tokens: 0,
      cached_share: 0.9,
    })
  })
})
