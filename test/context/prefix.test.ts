/**
 * What a provider can take from its cache, measured on the wire: long chats with tools against the fake upstream,
 * on both wires, with the markers of each.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test"
import { Type } from "@sinclair/typebox"
import { bytesOf, markers, piecesOf, upTo } from "../support/cached-pieces.ts"
import { type FakeLlm, hasFakeLlm, startFakeLlm } from "../support/fake-llm.ts"
import { type TestKernel, testKernel } from "../support/kernel.ts"

const TURNS = 30
const MODEL = "fake-tools-2-c3"

const PAGE = {
  ...{ name: "page", group: "test", description: "A page of text.", gates: [], traits: {} },
  input: Type.Object({ path: Type.String() }),
}

describe.skipIf(!hasFakeLlm())("over a wire", () => {
  let upstream: FakeLlm
  let kernel: TestKernel
  beforeAll(async () => {
    upstream = await startFakeLlm()
    await upstream.configure({ tool: "page", toolArgs: '{"path":"{{n}}.txt"}' })
  })
  afterAll(() => upstream.stop())
  afterEach(() => kernel.dispose())

  /** The gateway's own host name, reached by way of a proxy, since only it takes markers on this wire. */
  const connection = (provider: string) =>
    provider === "openai"
      ? { provider, base_url: "http://openrouter.ai/v1", proxy: upstream.url }
      : { provider, base_url: upstream.url }

  const start = async (provider: string, llm: Record<string, unknown> = {}): Promise<string> => {
    kernel = await testKernel({
      config: {
        llm: {
          ...connection(provider),
          ...{ api_key: "k", model: { general: MODEL }, models: [{ name: MODEL }], ...llm },
        },
      },
    })
    let page = 0
    kernel.api.registry.register({
      ...PAGE,
      run: async () => ({ output: `страница 漢字 ${++page} ${"x".repeat(1500)}` }),
    })
    return kernel.newChat()
  }

  /** The requests of so many turns, as bodies. */
  const talk = async (chat: string, turns: number): Promise<Record<string, unknown>[]> => {
    await upstream.forget()
    for (let turn = 0; turn < turns; turn++) {
      const events = await kernel.turn(chat, `вопрос ${turn} 👩‍👩‍👧 ${"y".repeat(200)}`)
      expect(events.at(-1)).toEqual({ type: "done", reason: "done" })
    }
    return upstream.bodies()
  }

  for (const provider of ["anthropic", "openai"]) {
    test(`CACHE-10 CACHE-02 CACHE-13: ${provider}: over ${TURNS} turns with tools each request begins with all of the one before up to its anchor, and inside a turn up to its tail`, async () => {
      const chat = await start(provider, { prompt_cache: "5m" })
      const requests = (await talk(chat, TURNS)).map(piecesOf)
      expect(requests).toHaveLength(3 * TURNS)
      let breaks = 0
      for (const [index, pieces] of requests.entries()) {
        const marked = markers(pieces)
        expect(marked.length).toBeGreaterThanOrEqual(2)
        expect(marked.length).toBeLessThanOrEqual(4)
        // The volatile part is last, and no marker is on it.
        expect(pieces.at(-1)!.bytes).toContain("[state]")
        expect(marked.at(-1)).toBe(pieces.length - 2)
        const before = requests[index - 1]
        if (!before) continue
        const marksBefore = markers(before)
        const [system, anchor] = marksBefore
        expect(bytesOf(pieces)).toStartWith(upTo(before, system!))
        expect(bytesOf(pieces)).toStartWith(upTo(before, anchor!))
        const isNextStep = index % 3 !== 0
        const whole = bytesOf(pieces).startsWith(upTo(before, marksBefore.at(-1)!))
        if (isNextStep) expect(whole).toBe(true)
        else if (!whole) breaks++
        // What was written to the cache is looked for again at a marker of this request.
        const wanted = upTo(before, whole ? marksBefore.at(-1)! : anchor!)
        expect(marked.some((marker) => upTo(pieces, marker) === wanted)).toBe(true)
      }
      // Of the turns that begin, none breaks more than once, and the first ones not at all.
      expect(breaks).toBeLessThan(TURNS - 2)
    }, 60_000)

    test(`CACHE-15 CACHE-13: ${provider}: markers or not, the content is the same to the byte`, async () => {
      const bodies: string[] = []
      for (const prompt_cache of ["1h", undefined]) {
        const chat = await start(provider, { ...(prompt_cache && { prompt_cache }) })
        const [body] = await talk(chat, 1)
        expect(JSON.stringify(body).includes("cache_control")).toBe(prompt_cache !== undefined)
        bodies.push(bytesOf(piecesOf(body!).slice(0, -1)))
        if (prompt_cache) await kernel.dispose()
      }
      expect(bodies[0]).toBe(bodies[1]!)
    })
  }
})
