/** What goes wrong between the request and the last byte, over real sockets: cuts, silence, cancels, redirects. */
import { afterEach, describe, expect, test } from "bun:test"
import { createServer } from "node:net"
import type { UpstreamOptions } from "../../src/llm/upstream.ts"
import {
  collect,
  createWire,
  failureOf,
  fold,
  never,
  type Protocol,
  REQUEST,
  serve,
  sse,
  type Upstream,
} from "./support.ts"

const WIRES: Protocol[] = ["openai-chat", "openai-responses", "anthropic-messages"]

/** The first word of an answer on each wire. */
const HELLO: Record<Protocol, string> = {
  "openai-chat": `data: {"choices":[{"index":0,"delta":{"content":"Hello"}}]}\n\n`,
  "openai-responses": `data: {"type":"response.output_text.delta","output_index":0,"delta":"Hello"}\n\n`,
  "anthropic-messages": `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello"}}\n\n`,
}

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

function answering(answer: (request: Request) => Response | Promise<Response>): Upstream {
  const upstream = serve(answer)
  closers.push(upstream.stop)
  return upstream
}

/** A stream that says this and then, each `everyMs`, that, for ever. Calls back when the client has left. */
function endless(
  first: string,
  options: { again?: string; everyMs?: number; left?: () => void } = {},
) {
  const encoder = new TextEncoder()
  let timer: Timer | undefined
  return new ReadableStream<Uint8Array>({
    start: (controller) => {
      controller.enqueue(encoder.encode(first))
      if (!options.again) return
      timer = setInterval(() => controller.enqueue(encoder.encode(options.again)), options.everyMs)
    },
    cancel: () => {
      clearInterval(timer)
      options.left?.()
    },
  })
}

const wireTo = (protocol: Protocol, url: string, options: Partial<UpstreamOptions> = {}) =>
  createWire(protocol, { baseUrl: `${url}/v1`, ...options })

describe("silence", () => {
  for (const protocol of WIRES) {
    test(`${protocol}: an upstream that stops sending ends as transient, the text so far is kept`, async () => {
      const { url } = answering(() => sse(endless(HELLO[protocol])))
      const wire = wireTo(protocol, url, { silenceTimeoutMs: 80 })
      const events = await collect(wire.stream(REQUEST, never()))
      expect(events).toEqual([
        { type: "text", text: "Hello" },
        {
          type: "failed",
          failure: { class: "transient", message: "the upstream fell silent for 0.08 s" },
        },
      ])
    })
  }

  test("comments and pings do not count as life", async () => {
    for (const again of [": keep-alive\n\n", "\n\n", `event: ping\ndata: {"type":"ping"}\n\n`]) {
      const { url } = answering(() =>
        sse(endless(HELLO["anthropic-messages"], { again, everyMs: 10 })),
      )
      const wire = wireTo("anthropic-messages", url, { silenceTimeoutMs: 80 })
      const failure = failureOf(await collect(wire.stream(REQUEST, never())))
      expect(failure).toMatchObject({
        class: "transient",
        message: expect.stringContaining("silent"),
      })
    }
  })

  test("a slow upstream that goes on sending is waited for", async () => {
    const left = Promise.withResolvers<void>()
    const hello = HELLO["openai-chat"]
    const { url } = answering(() =>
      sse(endless(hello, { again: hello, everyMs: 30, left: left.resolve })),
    )
    const wire = wireTo("openai-chat", url, { silenceTimeoutMs: 2000, firstTokenTimeoutMs: 2000 })
    let seen = 0
    for await (const event of wire.stream(REQUEST, never())) {
      expect(event).toEqual({ type: "text", text: "Hello" })
      if (++seen === 5) break
    }
    // Whoever stops listening frees the socket too.
    await left.promise
  })

  test("no answer at all, or only comments, ends at the limit for the first token", async () => {
    const silent = answering(() => new Promise<Response>(() => {}))
    const commenting = answering(() => sse(endless(": OPENROUTER PROCESSING\n\n")))
    for (const { url } of [silent, commenting]) {
      const wire = wireTo("openai-chat", url, { firstTokenTimeoutMs: 80 })
      expect(failureOf(await collect(wire.stream(REQUEST, never())))).toEqual({
        class: "transient",
        message: "no answer for 0.08 s",
      })
    }
  })

  test("a listener that is slow does not use up the upstream's time", async () => {
    const { url } = answering(
      () =>
        new Response(`${HELLO["openai-chat"]}data: [DONE]\n\n`, {
          headers: { "content-type": "text/event-stream", "x-ratelimit-limit": "5" },
        }),
    )
    const wire = wireTo("openai-chat", url, { firstTokenTimeoutMs: 20_000, silenceTimeoutMs: 500 })
    const seen: string[] = []
    for await (const event of wire.stream(REQUEST, never())) {
      seen.push(event.type)
      await Bun.sleep(600)
    }
    expect(seen).toEqual(["rate_limits", "text", "stop"])
  })
})

describe("cancel", () => {
  for (const protocol of WIRES) {
    test(`${protocol}: wins at once over a blocked read, and the upstream sees the client leave`, async () => {
      const left = Promise.withResolvers<void>()
      const { url } = answering(() => sse(endless(HELLO[protocol], { left: left.resolve })))
      const cancel = new AbortController()
      const events = wireTo(protocol, url).stream(REQUEST, cancel.signal)[Symbol.asyncIterator]()
      expect((await events.next()).value).toEqual({ type: "text", text: "Hello" })
      const blocked = events.next()
      cancel.abort()
      expect((await blocked).value).toMatchObject({ failure: { class: "cancelled" } })
      expect((await events.next()).done).toBe(true)
      await left.promise
    })
  }

  test("before the request, and while the upstream has not answered yet", async () => {
    const arrived = Promise.withResolvers<void>()
    const { url } = answering(() => {
      arrived.resolve()
      return new Promise<Response>(() => {})
    })
    const wire = wireTo("openai-chat", url)
    const early = await collect(wire.stream(REQUEST, AbortSignal.abort()))
    expect(early).toMatchObject([{ failure: { class: "cancelled" } }])
    const cancel = new AbortController()
    const late = collect(wire.stream(REQUEST, cancel.signal))
    await arrived.promise
    cancel.abort()
    expect(await late).toMatchObject([{ failure: { class: "cancelled" } }])
  })

  test("200 cancels at random moments leave no unhandled rejection and no open stream", async () => {
    const unhandled: unknown[] = []
    const note = (reason: unknown) => unhandled.push(reason)
    process.on("unhandledRejection", note)
    closers.push(() => process.off("unhandledRejection", note))
    let open = 0
    const { url } = answering(() => {
      open++
      return sse(
        endless(HELLO["openai-chat"], {
          again: HELLO["openai-chat"],
          everyMs: 1,
          left: () => open--,
        }),
      )
    })
    const wire = wireTo("openai-chat", url)
    let state = 7
    const runs = Array.from({ length: 200 }, async () => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
      const cancel = new AbortController()
      setTimeout(() => cancel.abort(), state % 60)
      return failureOf(await collect(wire.stream(REQUEST, cancel.signal)))?.class
    })
    expect(new Set(await Promise.all(runs))).toEqual(new Set(["cancelled"]))
    while (open > 0) await Bun.sleep(5)
    expect(unhandled).toEqual([])
  })
})

describe("broken connections", () => {
  test("LLM-005: a stream that ends without a finish is transient, with its text kept", async () => {
    for (const protocol of WIRES) {
      const { url } = answering(() => sse(HELLO[protocol]))
      const events = await collect(wireTo(protocol, url).stream(REQUEST, never()))
      expect(events).toEqual([
        { type: "text", text: "Hello" },
        { type: "failed", failure: { class: "transient", message: "the stream ended early" } },
      ])
    }
  })

  test("LLM-005: a socket that is cut in the middle is transient, with its text kept", async () => {
    const server = createServer((socket) => {
      socket.once("data", () => {
        const head =
          "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
        const body = HELLO["openai-chat"]
        socket.write(`${head}${body.length.toString(16)}\r\n${body}\r\n`)
        setTimeout(() => socket.destroy(), 20)
      })
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    closers.push(() => server.close())
    const address = server.address()
    const port = typeof address === "object" && address ? address.port : 0
    const wire = wireTo("openai-chat", `http://127.0.0.1:${port}`)
    const { text, failure } = fold(await collect(wire.stream(REQUEST, never())))
    expect(text).toBe("Hello")
    expect(failure?.class).toBe("transient")
  })

  test("LLM-005 LLM-007: a port that nobody listens on is transient, and the system's own reason is told", async () => {
    const gone = serve(() => sse(""))
    await gone.stop()
    for (const protocol of WIRES) {
      const failure = failureOf(await collect(wireTo(protocol, gone.url).stream(REQUEST, never())))
      expect(failure).toMatchObject({
        class: "transient",
        message: expect.stringMatching(/the connection broke: .*(?:refused|Unable to connect)/i),
      })
    }
  })

  test("a frame that is no JSON is a broken stream", async () => {
    const { url } = answering(() => sse(`${HELLO["openai-chat"]}data: {broken\n\n`))
    const { text, failure } = fold(
      await collect(wireTo("openai-chat", url).stream(REQUEST, never())),
    )
    expect({ text, class: failure?.class }).toEqual({ text: "Hello", class: "transient" })
  })
})

describe("answers with an error", () => {
  test("LLM-005 LLM-024: 429 is transient with the upstream's own wish, and its limits are read", async () => {
    const headers = {
      "retry-after": "3",
      "anthropic-ratelimit-requests-limit": "50",
      "anthropic-ratelimit-requests-remaining": "0",
    }
    const error = { type: "rate_limit_error", message: "slow down" }
    const { url, requests } = answering(() =>
      Response.json({ type: "error", error }, { status: 429, headers }),
    )
    expect(await collect(wireTo("anthropic-messages", url).stream(REQUEST, never()))).toEqual([
      { type: "rate_limits", limits: [{ name: "requests", limit: 50, remaining: 0 }] },
      {
        type: "failed",
        failure: {
          class: "transient",
          message: "HTTP 429: slow down",
          status: 429,
          retryAfterMs: 3000,
        },
      },
    ])
    // Asking again is for others to decide.
    expect(requests).toHaveLength(1)
  })

  test("LLM-024: limits of an answer that succeeds come before its first word", async () => {
    const { url } = answering(() =>
      sse(`${HELLO["openai-chat"]}data: [DONE]\n\n`, { "x-ratelimit-remaining-requests": "7" }),
    )
    const events = await collect(wireTo("openai-chat", url).stream(REQUEST, never()))
    expect(events[0]).toEqual({ type: "rate_limits", limits: [{ name: "requests", remaining: 7 }] })
  })

  test("no message bears the key, also when the upstream repeats it", async () => {
    const { url } = answering((request) => {
      const key = request.headers.get("authorization") ?? request.headers.get("x-api-key")
      return Response.json({ error: { message: `wrong key: ${key}` } }, { status: 401 })
    })
    for (const protocol of WIRES) {
      const wire = wireTo(protocol, url, { apiKey: "sk-secret-123456" })
      const failure = failureOf(await collect(wire.stream(REQUEST, never())))
      expect(failure?.class).toBe("auth")
      expect(failure?.message).toContain("[key]")
      expect(failure?.message).not.toContain("secret")
    }
  })

  test("an error body without end is read only so far", async () => {
    const left = Promise.withResolvers<void>()
    const body = endless("x".repeat(70_000), { again: "x", everyMs: 1, left: left.resolve })
    const { url } = answering(() => new Response(body, { status: 500 }))
    const failure = failureOf(await collect(wireTo("openai-chat", url).stream(REQUEST, never())))
    expect(failure?.message.length).toBeLessThan(700)
    await left.promise
  })

  test("a redirect is not followed: no key and no prompt reach another origin", async () => {
    const other = answering(() => sse("data: [DONE]\n\n"))
    const { url } = answering(() => Response.redirect(`${other.url}/v1/elsewhere`, 307))
    for (const protocol of WIRES) {
      const failure = failureOf(await collect(wireTo(protocol, url).stream(REQUEST, never())))
      expect(failure).toMatchObject({ class: "model", status: 307 })
    }
    expect(other.requests).toEqual([])
  })

  test("with a proxy the request goes there and nowhere else", async () => {
    const proxy = answering(() => sse(`${HELLO["openai-chat"]}data: [DONE]\n\n`))
    const wire = wireTo("openai-chat", "http://upstream.invalid", { proxy: proxy.url })
    expect(fold(await collect(wire.stream(REQUEST, never()))).text).toBe("Hello")
    expect(proxy.requests[0]?.headers.get("host")).toBe("upstream.invalid")
  })

  test("without a key no credential leaves, whatever the environment holds", async () => {
    const upstream = answering(() => sse("data: [DONE]\n\n"))
    for (const protocol of WIRES) {
      await collect(wireTo(protocol, upstream.url, { apiKey: undefined }).stream(REQUEST, never()))
    }
    expect(upstream.requests.map((request) => request.path)).toEqual([
      "/v1/chat/completions",
      "/v1/responses",
      "/v1/messages",
    ])
    for (const { headers } of upstream.requests) {
      expect(headers.get("authorization")).toBeNull()
      expect(headers.get("x-api-key")).toBeNull()
    }
  })
})
