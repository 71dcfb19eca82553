/** Recorded answers of real upstreams through the real providers: what comes out is what was said. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { createAnthropicDecoder } from "../../src/llm/anthropic-decode.ts"
import { createChatDecoder } from "../../src/llm/openai-chat-decode.ts"
import { createResponsesDecoder } from "../../src/llm/openai-responses-decode.ts"
import type { ProviderEvent } from "../../src/llm/provider.ts"
import { streamWire, type WireDecoder } from "../../src/llm/wire-stream.ts"
import { expectedOutcome, outcome, type Recorded } from "./recordings.ts"
import {
  collect,
  createWire,
  fold,
  LIMITS,
  never,
  type Protocol,
  REQUEST,
  readLines,
  STREAMS,
  serve,
  sse,
  type Upstream,
} from "./support.ts"

const DECODERS: Record<Protocol, () => WireDecoder> = {
  "openai-chat": createChatDecoder,
  "openai-responses": createResponsesDecoder,
  "anthropic-messages": createAnthropicDecoder,
}

// One recording is in Ollama's own protocol, which is none of ours.
const recorded = (await readLines<Recorded>(STREAMS)).filter((one) => one.protocol in DECODERS)
const agreed = recorded.filter((one) => one.sdks_agree)
const disputed = recorded.filter((one) => !one.sdks_agree)

let upstream: Upstream
beforeAll(() => {
  const bodies = new Map(recorded.map((one) => [one.id, one.body]))
  upstream = serve((request) => sse(bodies.get(decodeURIComponent(request.headers.get("x-id")!))!))
})
afterAll(() => upstream.stop())

/** Over real HTTP, through the SDK and the provider. */
function overHttp(one: Recorded): Promise<ProviderEvent[]> {
  const provider = createWire(one.protocol, {
    baseUrl: `${upstream.url}/v1`,
    fetch: (input, init) => {
      const headers = new Headers(init?.headers)
      headers.set("x-id", encodeURIComponent(one.id))
      return fetch(input, { ...init, headers })
    },
  })
  return collect(provider.stream(REQUEST, never()))
}

/** The same path behind the socket, with the bytes cut into pieces of these sizes. */
function inPieces(one: Recorded, size: () => number): Promise<ProviderEvent[]> {
  const bytes = new TextEncoder().encode(one.body)
  let position = 0
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      if (position >= bytes.length) return controller.close()
      const end = position + Math.max(1, size())
      controller.enqueue(bytes.subarray(position, end))
      position = end
    },
  })
  const send = async () => sse(body)
  return collect(streamWire({ send, decoder: DECODERS[one.protocol](), options: LIMITS }, never()))
}

/** Piece sizes from 1 to 97, the same in every run. */
function cuts(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return 1 + (state % 97)
  }
}

const whole = ({ text, thinking, calls, stop, usage, failure }: ReturnType<typeof fold>) => ({
  text,
  thinking,
  calls,
  stop,
  usage,
  failure,
})

describe.skipIf(recorded.length === 0)("recorded answers", () => {
  test("LLM-001: every wire gives over HTTP, through its provider, what two SDKs agree on", async () => {
    expect(new Set(agreed.map((one) => one.protocol)).size).toBe(3)
    for (const one of agreed) {
      const got = outcome(one, fold(await overHttp(one)))
      expect({ id: one.id, ...got }).toEqual({ id: one.id, ...expectedOutcome(one) })
    }
  })

  for (const protocol of Object.keys(DECODERS) as Protocol[]) {
    const of = (list: Recorded[]) => list.filter((one) => one.protocol === protocol)

    test(`${protocol} in random pieces gives the same`, async () => {
      for (const one of of(recorded)) {
        const got = whole(fold(await inPieces(one, cuts(one.body.length))))
        expect({ id: one.id, ...got }).toEqual({ id: one.id, ...whole(fold(await overHttp(one))) })
      }
    })

    test(`${protocol} byte by byte gives what two SDKs agree on`, async () => {
      for (const one of of(agreed)) {
        const got = outcome(one, fold(await inPieces(one, () => 1)))
        expect({ id: one.id, ...got }).toEqual({ id: one.id, ...expectedOutcome(one) })
      }
    }, 60_000)

    test(`${protocol} loses no text where the SDKs differ or throw`, async () => {
      for (const one of of(disputed)) {
        const events = await overHttp(one)
        const { text } = fold(events)
        const want = one.expect.text || one.expect.refusal || one.expect.partial_text || ""
        expect({ id: one.id, text: text.includes(want) }).toEqual({ id: one.id, text: true })
        expect(events.at(-1)?.type).toMatch(/^(stop|failed)$/)
      }
    })
  }
})
