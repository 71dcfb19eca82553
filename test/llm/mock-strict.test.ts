import { expect, test } from "bun:test"
import { createMock } from "../../src/llm/mock.ts"
import type { ModelRequest } from "../../src/llm/provider.ts"
import { assistant, call, clockTool, request, result, trip, user } from "./requests.ts"

const thought = { type: "thinking", text: "hm" } as const

const REFUSED: [fault: string, asked: ModelRequest][] = [
  ["tool_use a of the message before", request([user("x"), assistant(call("a")), user("y")])],
  ["tool_result a answers no call", request([user("x"), assistant("y"), user(result("a"))])],
  [
    "tool_use b of the message before",
    request([user("x"), assistant(call("a"), call("b")), user(result("a"))]),
  ],
  [
    "tool_use a of the message before",
    request([user("x"), assistant(call("a")), user("wait"), user(result("a"))]),
  ],
  [
    "or answers it twice",
    request([user("x"), assistant(call("a")), user(result("a"), result("a"))]),
  ],
  [
    "must come before all other blocks",
    request([user("x"), assistant(call("a")), user("text", result("a"))]),
  ],
  [
    "call id a is used twice",
    request([user("x"), assistant(call("a"), call("a")), user(result("a"))]),
  ],
  ["the system prompt is empty", request("x", { system: [] })],
  ["system part 1 is empty", request("x", { system: [{ text: "a" }, { text: " \n" }] })],
  ["the last message must be the user's", request([user("x"), assistant("y")])],
  ["a user message must hold no thinking", request([user("x", thought)])],
  ["a text block is empty", request([user("x", " ")])],
  ["it has no blocks", request([user(), assistant("a"), user("x")])],
  ["there are no messages", request([])],
  [
    'tool name "what now" does not match',
    request([user("x"), assistant(call("a", "what now")), user(result("a"))]),
  ],
  ['tool name "a.b" does not match', request("x", { tools: [{ ...clockTool, name: "a.b" }] })],
  ["tool clock is offered twice", request("x", { tools: [clockTool, clockTool] })],
  [
    "must have type object",
    request("x", { tools: [{ ...clockTool, input_schema: { type: "string" } }] }),
  ],
  ["the forced tool map is not offered", request("x", { toolChoice: { name: "map" } })],
  ["messages.0.blocks.0.text holds a NUL", request("a\0b")],
  ["messages.0.blocks.0.text holds", request("half \ud83d")],
  [
    "messages.1.blocks.0.input.deep.0 holds",
    request([user("x"), assistant(call("a", "clock", { deep: ["\udc00"] })), user(result("a"))]),
  ],
]

test("LLM-038 TRC-15: the mock refuses every request that a real provider would refuse, and says why", async () => {
  for (const [fault, asked] of REFUSED) {
    const { failure, events } = await trip(createMock(), asked)
    expect(failure?.message).toContain(fault)
    expect(failure?.class).toBe("fatal")
    expect(events).toHaveLength(1)
  }
})

test("a sound request passes: thoughts, pairs, speech after results", async () => {
  const messages = [
    user("x"),
    assistant(thought, "let me see", call("a"), call("b")),
    user(result("b"), result("a", ""), "and quickly"),
  ]
  expect((await trip(createMock(), request(messages))).failure).toBeUndefined()
})
