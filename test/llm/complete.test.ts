import { expect, test } from "bun:test"
import { complete, type Question } from "../../src/llm/complete.ts"
import { user } from "./requests.ts"
import { entry, fails, says, setUp } from "./routing.ts"

const question = (more: Partial<Question> = {}): Question => ({
  model: "a",
  system: "Name the chat.",
  messages: [user("hello")],
  signal: new AbortController().signal,
  spender: {},
  ...more,
})

test("a one-shot call gives the text, the model that answered and what all attempts cost", async () => {
  const half = [{ type: "text" as const, text: "half" }, ...fails("transient")]
  const { router } = setUp({
    scripts: { a: [half, fails("auth")], b: [says("A title")] },
    entries: [entry("a", { prices: { in: 1, out: 1 } })],
    fallback: ["b"],
  })
  const answer = await complete(router, question())
  expect(answer).toMatchObject({ text: "A title", stop: "end", model: "b" })
  expect(answer.usage.completion_tokens).toBe(1 + 2)
  expect(answer.usage.cost).toBeGreaterThan(0)
})

test("LLM-016 LLM-032: a one-shot call asks for no thinking, no cache and no tools unless told to", async () => {
  const { router, asked } = setUp({
    scripts: { a: [says("x"), says("y")] },
    entries: [entry("a", { effort: "high" })],
  })
  await complete(router, question())
  await complete(router, question({ effort: "low", cacheTtl: "5m" }))
  expect(asked[0]).toEqual({
    model: "a",
    system: [{ text: "Name the chat." }],
    messages: [user("hello")],
    tools: [],
    effort: "off",
    images: new Map(),
  })
  expect(asked[1]).toMatchObject({ effort: "low", cacheTtl: "5m" })
})

test("a failed one-shot call gives the failure", async () => {
  const { router } = setUp({ scripts: { a: [fails("refused")] } })
  expect(await complete(router, question())).toMatchObject({ failure: { class: "refused" } })
})
