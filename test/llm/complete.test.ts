import { expect, test } from "bun:test"
import { parseJson } from "../../src/lib/json.ts"
import { complete, type Question } from "../../src/llm/complete.ts"
import { createModels } from "../../src/llm/models.ts"
import { createUpstream } from "../../src/llm/named-upstream.ts"
import { user } from "./requests.ts"
import { entry, fails, manualTime, says, setUp } from "./routing.ts"

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

test("LLM-016 LLM-032: on the wire thinking is switched off aloud and nothing is marked for the cache", async () => {
  const bodies: Record<string, unknown>[] = []
  const fetch = async (_input: unknown, init?: RequestInit): Promise<Response> => {
    bodies.push(parseJson(String(init?.body)) as Record<string, unknown>)
    const delta = { choices: [{ index: 0, delta: { content: "ok" }, finish_reason: "stop" }] }
    return new Response(`data: ${JSON.stringify(delta)}\n\ndata: [DONE]\n\n`, {
      headers: { "content-type": "text/event-stream" },
    })
  }
  const gateway = createUpstream(
    {
      name: "gateway",
      provider: "openai",
      defaults: { effort: "high", cacheTtl: "1h" },
      options: {
        baseUrl: "https://openrouter.ai/api/v1",
        apiKey: "test-key",
        firstTokenTimeoutMs: 10_000,
        silenceTimeoutMs: 10_000,
        fetch,
      },
    },
    manualTime(),
  )
  const models = createModels({
    entries: [entry("a", { effort: "high" })],
    roles: { general: "a", fallback: [] },
    main: gateway,
    upstreams: {},
  })
  const { router } = setUp({ scripts: { a: [] }, options: { models } })
  expect(await complete(router, question())).toMatchObject({ text: "ok" })
  expect(bodies[0]).toMatchObject({ reasoning: { enabled: false } })
  expect(JSON.stringify(bodies[0])).not.toContain("cache_control")
})

test("a failed one-shot call gives the failure", async () => {
  const { router } = setUp({ scripts: { a: [fails("refused")] } })
  expect(await complete(router, question())).toMatchObject({ failure: { class: "refused" } })
})
