/** One question handed to a stronger model. */
import { afterEach, expect, test } from "bun:test"
import type { Tree } from "../../src/config/merge.ts"
import { plan, type TestKernel, testKernel } from "../support/kernel.ts"

let kernel: TestKernel
afterEach(() => kernel.dispose())

const MODELS = [
  { name: "mock" },
  { name: "coder", price_in: 3, price_out: 15, effort: "high" },
] as const

const start = async (more: Tree = {}, llm: Tree = { code_model: "coder" }) => {
  kernel = await testKernel({ config: { llm: { models: [...MODELS], ...llm }, ...more } })
  return kernel.newChat()
}
const toolNames = () => kernel.api.registry.list().map(({ tool }) => tool.name)
const TASK = "Write quicksort.\nHere is all you need: []"
const TEXT = plan([{ call: "code_task", input: { task: TASK } }, { say: "there" }])

test("TCODE-1 TCODE-2: is one request to llm.code_model that holds the task and nothing else, and its text is the result", async () => {
  const chat = await start()
  await kernel.turn(chat, { text: "earlier words", trusted: true })
  const events = await kernel.turn(chat, { text: TEXT, trusted: true })
  const asked = kernel.requests.filter(({ model }) => model === "coder")
  expect(asked).toHaveLength(1)
  expect(asked[0]!.messages).toEqual([{ role: "user", blocks: [{ type: "text", text: TASK }] }])
  expect(asked[0]!.tools).toEqual([])
  expect(asked[0]!.effort).toBe("high")
  expect(JSON.stringify(asked[0])).not.toContain("earlier words")
  const result = events.find((event) => event.type === "tool_result")
  expect(result).toMatchObject({ is_error: false, output: TASK })
})

test("TCODE-1: without llm.code_model there is no such tool", async () => {
  await start({}, {})
  expect(toolNames()).not.toContain("code_task")
})

test("TCODE-3: what it consumed counts in the totals and in the chat, under its own source", async () => {
  const chat = await start()
  await kernel.turn(chat, { text: TEXT, trusted: true })
  const spent = await kernel.api.spend.ofChat(chat, { tokens: 0, prefix_tokens: 0 })
  const { by_model, by_source } = spent
  expect(JSON.stringify(by_source)).toContain("code_task")
  expect(JSON.stringify(by_model)).toContain("coder")
  expect(spent.total.cost).toBeGreaterThan(0)
})

test("TCODE-4: its description says what it sees and where work in a repository belongs", async () => {
  await start()
  const { description } = kernel.api.registry.get("code_task")!
  expect(description).toContain("no tools, no files and no history")
  expect(description).toContain("agent_spawn")
})

test("on demand it is out of the default list, and a call says that it must be loaded", async () => {
  const chat = await start({ tools: { on_demand: ["code_task"] } })
  const events = await kernel.turn(chat, { text: TEXT, trusted: true })
  expect(kernel.requests[0]!.tools.map(({ name }) => name)).not.toContain("code_task")
  expect(events.find((event) => event.type === "tool_result")).toMatchObject({ is_error: true })
})

test("GATE-36 SEC-12: a guest neither sees nor runs what costs money, and his answers have the lower ceiling", async () => {
  const chat = await start({}, { code_model: "coder", max_tokens: 500, max_tokens_guest: 50 })
  const events = await kernel.turn(chat, { text: TEXT, guest: true })
  expect(kernel.requests.map(({ model }) => model)).not.toContain("coder")
  expect(kernel.requests[0]!.tools.map(({ name }) => name)).not.toContain("code_task")
  expect(kernel.requests[0]!.maxTokens).toBe(50)
  expect(events.find((event) => event.type === "tool_result")).toMatchObject({ is_error: true })
})

test("a failure of the stronger model is told in words, and the turn goes on", async () => {
  const chat = await start()
  const failing = plan([{ fail: "refused" }])
  const text = plan([{ call: "code_task", input: { task: failing } }, { say: "noted" }])
  const events = await kernel.turn(chat, { text, trusted: true })
  expect(events.find((event) => event.type === "tool_result")).toMatchObject({
    is_error: true,
    output: expect.stringContaining("coder failed: "),
  })
  expect(events.at(-1)).toEqual({ type: "done", reason: "done" })
})
