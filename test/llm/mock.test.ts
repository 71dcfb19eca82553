import { expect, test } from "bun:test"
import { Type } from "@sinclair/typebox"
import { Value } from "@sinclair/typebox/value"
import { parseJson } from "../../src/lib/json.ts"
import { createMock } from "../../src/llm/mock.ts"
import { createGate } from "../../src/llm/mock-gate.ts"
import {
  assistant,
  call,
  clockTool,
  collect,
  request,
  result,
  textOf,
  trip,
  user,
} from "./requests.ts"

test("the mock echoes the newest speech in several deltas and leaves machine text out", async () => {
  const messages = [
    user("first"),
    assistant("first"),
    user("[state]\nIt is noon.", "how are you", "[kernel] a note"),
  ]
  const answer = await trip(createMock(), request(messages))
  expect(answer.events.filter((event) => event.type === "text")).toEqual([
    { type: "text", text: "how " },
    { type: "text", text: "are " },
    { type: "text", text: "you" },
  ])
  expect(answer.usage).toMatchObject({ completion_tokens: 3, reasoning_tokens: 0 })
  expect(answer.usage!.prompt_tokens).toBeGreaterThan(50)
  expect(answer.stop).toBe("end")
})

test("the echo after a tool result is still that of the speech before it", async () => {
  const messages = [user("what time"), assistant(call("a")), user(result("a"))]
  expect(textOf((await trip(createMock(), request(messages))).blocks)).toBe("what time")
})

const Verdict = Type.Object({
  kind: Type.Union([Type.Literal("keep"), Type.Literal("drop")]),
  score: Type.Number({ exclusiveMinimum: 0, exclusiveMaximum: 1 }),
  count: Type.Integer({ minimum: 3 }),
  below: Type.Integer({ maximum: -2 }),
  names: Type.Array(Type.String({ minLength: 12 }), { minItems: 2 }),
  nested: Type.Intersect([
    Type.Object({ at: Type.Boolean() }),
    Type.Object({ maybe: Type.Union([Type.Null(), Type.String({ maxLength: 2 })]) }),
  ]),
  tree: Type.Recursive((Node) => Type.Object({ name: Type.String(), children: Type.Array(Node) })),
  extra: Type.Optional(Type.String()),
})

test("LLM-021 BEN-10: a request with a schema is answered with a sample that the schema accepts", async () => {
  const answerSchema = { name: "verdict", schema: { ...Verdict }, strict: true }
  const answer = await trip(createMock(), request("judge this", { answerSchema, tools: [] }))
  const value: unknown = parseJson(textOf(answer.blocks))
  expect([...Value.Errors(Verdict, value)]).toEqual([])
  expect(answer.stop).toBe("end")
})

test("a forced tool is called with arguments that its schema accepts", async () => {
  const answer = await trip(createMock(), request("go", { toolChoice: { name: "clock" } }))
  expect(answer.blocks).toEqual([
    { type: "tool_use", id: "call_1", name: "clock", input: { zone: "sample" } },
  ])
  expect(answer.stop).toBe("tools")
})

test("LLM-039: the gate holds every chunk until it is released", async () => {
  const gate = createGate()
  const seen: string[] = []
  const run = (async () => {
    for await (const event of createMock({ gate }).stream(request("one two"), AbortSignal.any([])))
      seen.push(event.type)
  })()
  const first = await gate.next()
  expect(first.event).toEqual({ type: "text", text: "one " })
  await Promise.resolve()
  expect(seen).toEqual([])
  first.release()
  const second = await gate.next()
  expect(seen).toEqual(["text"])
  second.release()
  gate.open()
  await run
  expect(seen).toEqual(["text", "text", "usage", "stop"])
})

test("LLM-039: a cancel between two deltas, and of a provider that says nothing, ends the stream at once", async () => {
  for (const before of [1, 0]) {
    const gate = createGate()
    const cancel = new AbortController()
    const run = collect(createMock({ gate }).stream(request("one two"), cancel.signal))
    for (let passed = 0; passed < before; passed++) (await gate.next()).release()
    await gate.next()
    cancel.abort()
    const events = await run
    expect(events.filter((event) => event.type === "text")).toHaveLength(before)
    expect(events.at(-1)).toMatchObject({ type: "failed", failure: { class: "cancelled" } })
  }
})

test("call ids differ from those in the history and from each other", async () => {
  const plan = `mock-plan: [{"calls": [{"name": "clock"}, {"name": "clock"}]}]`
  const messages = [user("x"), assistant(call("call_1")), user(result("call_1")), user(plan)]
  const answer = await trip(createMock(), request(messages))
  expect(answer.blocks).toMatchObject([{ id: "call_2" }, { id: "call_3" }])
})

test("the observer sees the request as it came", async () => {
  const seen: string[] = []
  const mock = createMock({ observe: (asked) => seen.push(asked.model) })
  await trip(mock, request("x", { model: "m1", tools: [clockTool, clockTool] }))
  expect(seen).toEqual(["m1"])
})
