/** Both wires of the fake upstream, with the faults that it can make. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import type { ModelRequest } from "../../src/llm/provider.ts"
import { type FakeLlm, hasFakeLlm, startFakeLlm } from "../support/fake-llm.ts"
import { WEATHER } from "./histories.ts"
import { collect, createWire, fold, never, type Protocol, REQUEST } from "./support.ts"

const WIRES: Protocol[] = ["openai-chat", "anthropic-messages"]

describe.skipIf(!hasFakeLlm())("the fake upstream", () => {
  let upstream: FakeLlm
  beforeAll(async () => {
    upstream = await startFakeLlm()
  })
  afterAll(() => upstream.stop())

  const run = async (protocol: Protocol, request: Partial<ModelRequest>) => {
    // One model never answers; the others have time to load what the first request loads.
    const firstTokenTimeoutMs = request.model === "fake-hang" ? 300 : 10_000
    const wire = createWire(protocol, { baseUrl: `${upstream.url}/v1`, firstTokenTimeoutMs })
    return fold(await collect(wire.stream({ ...REQUEST, ...request }, never())))
  }
  /** Faults are counted for each text: every test asks in its own words. */
  const asking = (text: string): ModelRequest["messages"] => [
    { role: "user", blocks: [{ type: "text", text }] },
  ]

  for (const protocol of WIRES) {
    test(`${protocol}: text and usage`, async () => {
      const { text, stop, usage } = await run(protocol, { model: "fake-c3" })
      expect({ text, stop }).toEqual({ text: "word word word ", stop: "end" })
      expect(usage).toMatchObject({ completion_tokens: 3, cached_tokens: 0, cost: null })
      expect(usage!.prompt_tokens).toBeGreaterThan(0)
    })

    test(`${protocol}: a call and its answer make a round`, async () => {
      const model = "fake-tools-1-c2"
      const first = await run(protocol, { model, tools: [WEATHER] })
      expect(first).toMatchObject({
        calls: [{ name: "weather", args: { city: "x" } }],
        stop: "tools",
      })
      const messages: ModelRequest["messages"] = [
        ...REQUEST.messages,
        { role: "assistant", blocks: first.blocks },
        {
          role: "user",
          blocks: [
            { type: "tool_result", id: first.calls[0]!.id, output: "sunny", is_error: false },
          ],
        },
      ]
      const second = await run(protocol, { model, tools: [WEATHER], messages })
      expect(second).toMatchObject({ text: "word word ", calls: [], stop: "end" })
    })

    test(`${protocol}: each fault has its class, and passes when it passes`, async () => {
      const classes = async (model: string, ask: string) => {
        const { failure, stop } = await run(protocol, {
          model,
          messages: asking(ask),
          tools: [WEATHER],
        })
        return failure ? [failure.class, failure.status, failure.retryAfterMs] : stop
      }
      const once = `once over ${protocol}`
      expect(await classes("fake-500-then-ok", once)).toEqual(["transient", 500, undefined])
      expect(await classes("fake-500-then-ok", once)).toBe("end")
      expect(await classes("fake-429-then-ok", once)).toEqual(["transient", 429, 1000])
      expect(await classes("fake-529-then-ok", once)).toEqual(["transient", 529, undefined])
      expect(await classes("fake-overflow", once)).toEqual(["overflow", 400, undefined])
      expect(await classes("fake-cut", once)).toEqual(["transient", undefined, undefined])
      expect(await classes("fake-hang", once)).toEqual(["transient", undefined, undefined])
    })

    test(`${protocol}: arguments that are no JSON are kept as written`, async () => {
      const { calls } = await run(protocol, { model: "fake-badjson", tools: [WEATHER] })
      expect(calls).toMatchObject([{ name: "weather", args: '{"broken": "json, ' }])
    })
  }
})
