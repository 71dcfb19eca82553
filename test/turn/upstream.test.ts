/** Whole turns against the fake upstream, on both wires: what goes wrong there, and how the turn takes it. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test"
import { type FakeLlm, hasFakeLlm, startFakeLlm } from "../support/fake-llm.ts"
import { nextEvent, type TestKernel, testKernel, texts } from "../support/kernel.ts"

const MODELS = [
  ...["fake-c3", "fake-tools-2-c3", "fake-500-then-ok-c3", "fake-429-then-ok-c3"],
  ...["fake-cut-c9-d5", "fake-hang", "fake-overflow", "fake-badjson-c3", "fake-slow-c50"],
]

describe.skipIf(!hasFakeLlm())("turns over a real wire", () => {
  let upstream: FakeLlm
  let kernel: TestKernel
  beforeAll(async () => {
    upstream = await startFakeLlm()
  })
  afterAll(() => upstream.stop())
  afterEach(() => kernel.dispose())

  const start = async (provider: string, model: string): Promise<string> => {
    const base_url = provider === "openai" ? `${upstream.url}/v1` : upstream.url
    kernel = await testKernel({
      config: {
        llm: {
          ...{ provider, base_url, api_key: "k", model: { general: model } },
          ...{ silence_timeout: "2s", first_token_timeout: "1500ms" },
          models: MODELS.map((name) => ({ name })),
        },
      },
    })
    return kernel.newChat()
  }
  /** The chat answers with a sound model after whatever happened. */
  const expectUsable = async (chat: string): Promise<void> => {
    const events = await kernel.turn(chat, { text: "and now?", model: "fake-c3" })
    expect(texts(events)).toBe("word word word ")
    expect(events.at(-1)).toEqual({ type: "done", reason: "done" })
  }

  for (const provider of ["openai", "anthropic"]) {
    test(`${provider}: tools run and the answer comes`, async () => {
      const chat = await start(provider, "fake-tools-2-c3")
      const events = await kernel.turn(chat, "use your tools")
      expect(events.filter((event) => event.type === "tool_result")).toHaveLength(2)
      expect(texts(events)).toBe("word word word ")
      await expectUsable(chat)
    })

    for (const status of ["500", "429"]) {
      test(`${provider}: ${status} is waited out and told`, async () => {
        const chat = await start(provider, `fake-${status}-then-ok-c3`)
        const events = await kernel.turn(chat, `${provider} ${status}`)
        expect(events.filter((event) => event.type === "retry")).toHaveLength(1)
        expect(texts(events)).toBe("word word word ")
        await expectUsable(chat)
      })
    }

    test(`${provider}: a stream that is cut keeps its text, is not repeated, and ends as a failure that may pass`, async () => {
      const chat = await start(provider, "fake-cut-c9-d5")
      const events = await kernel.turn(chat, "cut me off")
      expect(texts(events)).toMatch(/^(word )+$/)
      expect(events.at(-1)).toMatchObject({ type: "error", code: "transient", retryable: true })
      expect(JSON.stringify(kernel.api.messages.page(chat, {}).at(-1)!.blocks)).toContain("word")
      await expectUsable(chat)
    })

    test(`${provider}: an upstream that never answers can be cancelled at once`, async () => {
      const chat = await start(provider, "fake-hang")
      const ended = nextEvent(kernel, chat, "done")
      await kernel.api.turns.send(chat, { text: "hang" })
      await nextEvent(kernel, chat, "turn_started")
      await kernel.api.turns.cancelChat(chat)
      expect(await ended).toMatchObject({ reason: "cancelled" })
      await expectUsable(chat)
    })

    test(`${provider}: an overflow is one request and a clear class`, async () => {
      const chat = await start(provider, "fake-overflow")
      const before = (await upstream.log()).length
      const events = await kernel.turn(chat, "too much")
      expect(events.at(-1)).toMatchObject({ type: "error", code: "overflow" })
      expect((await upstream.log()).length).toBe(before + 1)
      await expectUsable(chat)
    })

    test(`${provider}: broken arguments are told to the model and run nothing`, async () => {
      const chat = await start(provider, "fake-badjson-c3")
      const events = await kernel.turn(chat, "break it")
      const result = events.find((event) => event.type === "tool_result")!
      expect(result.is_error).toBe(true)
      expect(result.output).toContain("JSON")
      expect(texts(events)).toBe("word word word ")
      await expectUsable(chat)
    })
  }

  test("the silence of an upstream ends the turn within its limit", async () => {
    const chat = await start("openai", "fake-hang")
    const events = await kernel.turn(chat, "silence")
    expect(events.at(-1)).toMatchObject({ type: "error", code: "transient" })
    await expectUsable(chat)
  })

  test("an upstream that is killed in mid-stream and comes back", async () => {
    const doomed = await startFakeLlm()
    kernel = await testKernel({
      config: {
        llm: {
          ...{ provider: "openai", base_url: `${doomed.url}/v1`, api_key: "k" },
          ...{ model: { general: "fake-slow-c50" }, models: MODELS.map((name) => ({ name })) },
        },
      },
    })
    const chat = kernel.newChat()
    const failed = nextEvent(kernel, chat, "error")
    await kernel.api.turns.send(chat, { text: "slowly" })
    await nextEvent(kernel, chat, "text_delta")
    await doomed.stop()
    expect(await failed).toMatchObject({ code: "transient", retryable: true })
    const port = Number(new URL(doomed.url).port)
    const events = await kernel.turn(chat, "nobody there")
    expect(events.filter((event) => event.type === "retry")).toHaveLength(2)
    expect(events.at(-1)).toMatchObject({ type: "error", code: "transient" })
    const back = await startFakeLlm(port)
    try {
      expect(texts(await kernel.turn(chat, { text: "back?", model: "fake-c3" }))).toBe(
        "word word word ",
      )
    } finally {
      await back.stop()
    }
  })
})
