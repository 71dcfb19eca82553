/** A long turn that shows its own older traffic in short, as the provider and the client see it. */
import { afterEach, expect, test } from "bun:test"
import { Type } from "@sinclair/typebox"
import type { ModelRequest } from "../../src/llm/provider.ts"
import { MACHINE_TEXT } from "../../src/schema/machine-text.ts"
import type { Tool } from "../../src/tools/tool.ts"
import { plan, type SeenEvent, type TestKernel, testKernel } from "../support/kernel.ts"

let kernel: TestKernel
afterEach(() => kernel.dispose())

/** Answers with its number, long enough to weigh 450 tokens each. */
const READER: Tool = {
  ...{
    name: "read_file",
    group: "test",
    description: "Reads.",
    gates: [],
    traits: { windowed: true },
  },
  input: Type.Object({ path: Type.String(), note: Type.Optional(Type.String()) }),
  run: async (_context, input) => {
    const { path } = input as { path: string }
    return {
      output: `[lines 1-9 of 9] server:${path}\n${`1\t${path}\n`.repeat(500).slice(0, 1800)}`,
    }
  },
}
const WRITER: Tool = {
  ...{ name: "write_file", group: "test", description: "Writes.", gates: [], traits: {} },
  input: Type.Object({ path: Type.String(), content: Type.String() }),
  run: async () => ({ output: "written" }),
}

const read = (path: string) => ({ call: "read_file", input: { path } })
const reads = (...paths: string[]) => paths.map((path) => read(`/${path}`))

async function run(steps: unknown[], context: Record<string, unknown> = {}) {
  kernel = await testKernel({
    config: {
      llm: { max_turn_iterations: 40 },
      // 1000 tokens of the turn's own traffic.
      context: { compact_after_tokens: 2000, ...context },
    },
  })
  const { registry } = kernel.api
  registry.removeGroup("client", "replaced by the test")
  registry.registerAll([READER, WRITER])
  const chat = kernel.newChat()
  const events = await kernel.turn(chat, plan([...steps, { say: "Done." }]))
  return { chat, events }
}

/** Those of the turn: afterwards its history is folded, and that is asked without tools. */
const requests = (): ModelRequest[] => kernel.requests.filter(({ tools }) => tools.length > 0)

const squeezes = (events: readonly SeenEvent[]): number[] =>
  events.flatMap((event) => (event.type === "turn_squeezed" ? [event.freed_chars] : []))

const outputs = ({ messages }: ModelRequest): string[] =>
  messages.flatMap(({ blocks }) =>
    blocks.flatMap((block) => (block.type === "tool_result" ? [block.output] : [])),
  )
const chars = ({ messages }: ModelRequest): number =>
  messages
    .flatMap(({ blocks }) => blocks)
    .reduce((sum, block) => {
      if (block.type === "tool_use") return sum + JSON.stringify(block.input).length
      return sum + (block.type === "tool_result" ? block.output.length : 0)
    }, 0)
const state = ({ messages }: ModelRequest): string => JSON.stringify(messages.at(-1)!.blocks)
/** All but the machine's own words at the end. */
const said = ({ messages }: ModelRequest): string =>
  JSON.stringify(
    messages.map(({ role, blocks }) => ({
      role,
      blocks: blocks.filter(
        (block) => block.type !== "text" || !block.text.startsWith(MACHINE_TEXT.state.marker),
      ),
    })),
  )

test("CTX-60 CTX-61 TURN-056 TURN-057: heavy traffic collapses in one pass, and the last four messages stay fresh", async () => {
  const { events } = await run(reads("a", "b", "c", "d"))
  expect(squeezes(events)).toHaveLength(1)
  const [, , two, three, four] = requests()
  // Two readings are lighter than the share of the threshold, three are heavier.
  expect(outputs(two!).every((output) => output.length > 1000)).toBe(true)
  expect(outputs(three!).map((output) => output.length > 1000)).toEqual([false, true, true])
  // It waits for twice the weight: what comes then is fresh.
  expect(outputs(four!).map((output) => output.length > 1000)).toEqual([false, true, true, true])
})

test("SSE-013: it is told to the model in the state and to the client as what it freed", async () => {
  const { events } = await run(reads("a", "b", "c"))
  const [, , before, after] = requests()
  expect(state(before!)).not.toContain("re-read")
  expect(state(after!)).toContain("re-read anything you still need")
  const third = outputs(after!).at(-1)!.length + JSON.stringify({ path: "/c" }).length
  const freed = chars(before!) + third - chars(after!)
  expect(squeezes(events)).toEqual([freed])
  const types = events.map(({ type }) => type).filter((type) => !type.startsWith("item_"))
  expect(types[types.indexOf("turn_squeezed") - 1]).toBe("tool_result")
})

test("CTX-61 CTX-64 CTX-57 TURN-057 TFILE-54: copies read again go with it and count as freed; own writes make nothing stale", async () => {
  const write = { call: "write_file", input: { path: "/a", content: "c".repeat(900) } }
  const { events } = await run([write, ...reads("a"), write, ...reads("b", "b", "a", "c", "c")])
  expect(squeezes(events).length).toBeGreaterThan(0)
  const seen = outputs(requests().at(-1)!)
  expect(JSON.stringify(requests())).not.toContain("[superseded")
  const late = outputs(requests().find((request) => state(request).includes("re-read"))!)
  expect(late.some((output) => output === "written")).toBe(true)
  expect(seen).toContain(MACHINE_TEXT.repeated_read.marker)
  const input = requests()
    .at(-1)!
    .messages.flatMap(({ blocks }) => blocks)
  expect(JSON.stringify(input)).toContain("[elided: 900 chars]")
})

test("CTX-62: it comes again only at twice the weight, and what was short already keeps its bytes", async () => {
  const names = Array.from({ length: 12 }, (_, index) => `f${index}`)
  const { events } = await run(reads(...names))
  // About 450 tokens each: at 3, then at twice that, then at twice that again.
  expect(squeezes(events)).toHaveLength(3)
  const broken = requests().flatMap((request, index) => {
    const before = requests()[index - 1]
    return before && !said(request).startsWith(said(before).slice(0, -4)) ? [index] : []
  })
  expect(broken).toHaveLength(3)
  const firstStub = (request: ModelRequest) => outputs(request)[0]
  const stubs = new Set(requests().slice(broken[0]).map(firstStub))
  expect(stubs.size).toBe(1)
})

test("CTX-62 CACHE-09: a pass with nothing to collapse is silent and changes no byte", async () => {
  const huge = { call: "read_file", input: { path: "/x", note: "n" } }
  const { events } = await run([huge, huge], { compact_after_tokens: 1000 })
  expect(squeezes(events)).toEqual([])
  for (const [index, request] of requests().entries()) {
    if (index === 0) continue
    expect(said(request)).toStartWith(said(requests()[index - 1]!).slice(0, -4))
    expect(state(request)).not.toContain("re-read")
  }
})

test("CTX-65 CFG-048: 0 switches it off, and the going of copies with it", async () => {
  const { events } = await run(reads("a", "a", "a", "b", "c", "d", "e"), {
    turn_squeeze_percent: 0,
  })
  expect(squeezes(events)).toEqual([])
  expect(outputs(requests().at(-1)!).every((output) => output.length > 1000)).toBe(true)
})

test("CTX-01: what is stored stays whole", async () => {
  const { chat } = await run(reads("a", "b", "c", "d"))
  const stored = kernel.api.messages.page(chat, { limit: 100 }).flatMap(({ blocks }) => blocks)
  const results = stored.flatMap((block) => (block.type === "tool_result" ? [block.output] : []))
  expect(results.map((output) => output.length)).toEqual(Array(4).fill(1827))
})
