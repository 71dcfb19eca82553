import { expect, test } from "bun:test"
import { createMock } from "../../src/llm/mock.ts"
import { readPlan } from "../../src/llm/mock-plan.ts"
import { assistant, request, textOf, trip, turn, user } from "./requests.ts"

const blocksOf = (answers: Awaited<ReturnType<typeof turn>>) =>
  answers.map((answer) =>
    answer.blocks.map((block) =>
      block.type === "tool_use" ? [block.name, block.input] : "text" in block ? block.text : "",
    ),
  )

test("LLM-037 BEN-04: a mock-plan plays its calls one a trip, in order, and ends with say", async () => {
  const plan = `Please do it.
mock-plan:
  - {call: clock, input: {zone: UTC}}
  - calls:
      - {name: clock, input: {zone: A}}
      - {name: clock, input: {zone: B}}
  - say: it is noon
That is all.`
  const answers = await turn(createMock(), request(plan))
  expect(blocksOf(answers)).toEqual([
    [["clock", { zone: "UTC" }]],
    [
      ["clock", { zone: "A" }],
      ["clock", { zone: "B" }],
    ],
    ["it is noon"],
  ])
  expect(answers.map((answer) => answer.stop)).toEqual(["tools", "tools", "end"])
})

test("thought and text without an end of their own travel with the next item", async () => {
  const plan = `mock-plan:
- think: which zone
- say: let me look
- call: clock
- think: so late
- say: noon`
  expect(blocksOf(await turn(createMock(), request(plan)))).toEqual([
    ["which zone", "let me look", ["clock", {}]],
    ["so late", "noon"],
  ])
})

test("a plan as a JSON array on the line of its key, and what happens after its last step", async () => {
  const plan = `mock-plan: [{"think": "a ] b", "call": "clock"}] and that is it`
  expect(blocksOf(await turn(createMock(), request(plan)))).toEqual([
    ["a ] b", ["clock", {}]],
    ["(plan finished)"],
  ])
})

test("a failure is consumed once: the retry of the same request gets the next item", async () => {
  const plan = `mock-plan:
- call: clock
- fail: transient
- say: recovered`
  const answers = await turn(createMock(), request(plan))
  expect(answers.map((answer) => answer.failure?.class ?? textOf(answer.blocks))).toEqual([
    "",
    "transient",
    "recovered",
  ])
})

test("a failure stays consumed when the history before the plan was folded away", async () => {
  const mock = createMock()
  const plan = user("mock-plan: [{fail: overflow}, {say: fits now}]")
  const long = await trip(
    mock,
    request([user("a"), assistant("b"), user("c"), assistant("d"), plan]),
  )
  expect(long.failure?.class).toBe("overflow")
  expect(textOf((await trip(mock, request([plan]))).blocks)).toBe("fits now")
})

test("the same plan said again starts anew", async () => {
  const mock = createMock()
  const plan = user("mock-plan: [{fail: refused}, {say: done}]")
  expect((await trip(mock, request([plan]))).failure?.class).toBe("refused")
  const again = [plan, assistant("[nothing]"), plan]
  expect((await trip(mock, request(again))).failure?.class).toBe("refused")
})

test("text before a failure is shown, then the stream fails", async () => {
  const answer = await trip(createMock(), request("mock-plan: [{say: half, fail: transient}]"))
  expect(textOf(answer.blocks)).toBe("half")
  expect(answer.failure?.class).toBe("transient")
})

test("broken plans are explained in words", async () => {
  for (const [plan, reason] of [
    ["mock-plan:\n- {say: [", "mock-plan: "],
    ["mock-plan:\n- {speak: hi}", 'step 1 has no key "speak"; known are call, input'],
    ["mock-plan:\n- {fail: often}", "step 1, fail must be one of transient, overflow, refused"],
    ["mock-plan:\n- hello", "step 1 must be a mapping such as {say: hello}"],
    ["mock-plan:", "a list of steps must follow"],
    ["mock-plan:\n- {input: {a: 1}}", "step 1 has arguments but no call"],
  ] as const) {
    const answer = await trip(createMock(), request(plan))
    expect(textOf(answer.blocks)).toContain(reason)
    expect(answer.stop).toBe("end")
  }
})

test("a service call without tools that quotes the plan does not play it", async () => {
  const quote = "Name this chat:\nmock-plan: [{call: clock}]"
  const answer = await trip(createMock(), request(quote, { tools: [] }))
  expect(answer.blocks).toMatchObject([{ type: "text" }])
})

test("the extra keys: chunks, usage, stop and raw arguments", async () => {
  const plan = `mock-plan:
- say: a b c d
  call: clock
  raw: '{"zone": "U'
  chunks: 2
  stop: length
  usage: {prompt_tokens: 7}`
  const answer = await trip(createMock(), request(plan))
  expect(answer.events.filter((event) => event.type === "text")).toHaveLength(2)
  expect(answer.usage?.prompt_tokens).toBe(7)
  expect(answer.cutCallId).toBe("call_1")
})

test("a pause obeys the signal", async () => {
  const cancel = new AbortController()
  const run = trip(
    createMock(),
    request("mock-plan: [{say: never, delay_ms: 3600000}]"),
    cancel.signal,
  )
  cancel.abort()
  expect((await run).failure?.class).toBe("cancelled")
})

test("text without the key is no plan", async () => {
  expect(await readPlan("what is a mock-plan: tell me")).toBeUndefined()
})
