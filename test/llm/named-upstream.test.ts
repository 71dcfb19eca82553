import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test"
import { sleep } from "../../src/lib/async.ts"
import { systemClock } from "../../src/lib/clock.ts"
import { type Log, type LogFields, silentLog } from "../../src/lib/log.ts"
import { createAnthropic } from "../../src/llm/anthropic.ts"
import { createMock } from "../../src/llm/mock.ts"
import { createModels, type ModelEntry } from "../../src/llm/models.ts"
import { createUpstream, type UpstreamSpec } from "../../src/llm/named-upstream.ts"
import { createOpenAiChat } from "../../src/llm/openai-chat.ts"
import { createOpenAiResponses } from "../../src/llm/openai-responses.ts"
import { createRouter, type RoutedEvent } from "../../src/llm/router.ts"
import { createTokenEstimator } from "../../src/llm/tokens.ts"
import { createUnsupportedMemory } from "../../src/llm/unsupported.ts"
import { type FakeLlm, hasFakeLlm, startFakeLlm } from "../support/fake-llm.ts"
import { collect, request } from "./requests.ts"
import { answerOf, entry, ofType, policy } from "./routing.ts"

const limits = { apiKey: "test-key", firstTokenTimeoutMs: 10_000, silenceTimeoutMs: 10_000 }
const deps = { clock: systemClock, sleep, random: () => 0.5 }

type Connection = Pick<UpstreamSpec, "provider"> & { baseUrl: string }

/** A router over real wires; the entries name the upstreams that serve them. */
function routerOver(
  connections: Record<string, Connection> & { main: Connection },
  entries: ModelEntry[],
  more: { fallback?: string[]; log?: Log } = {},
) {
  const upstreams = Object.fromEntries(
    Object.entries(connections).map(([name, { provider, baseUrl }]) => [
      name,
      createUpstream({ name, provider, options: { ...limits, baseUrl } }, deps),
    ]),
  )
  return createRouter({
    ...deps,
    models: createModels({
      entries,
      roles: { general: entries[0]!.name, fallback: more.fallback ?? [] },
      main: upstreams.main!,
      upstreams,
    }),
    tokens: createTokenEstimator(),
    policy: { ...policy, firstDelayMs: 20 },
    unsupported: createUnsupportedMemory(),
    log: more.log ?? silentLog,
  })
}

const ask = (
  router: ReturnType<typeof routerOver>,
  model: string,
  signal: AbortSignal = new AbortController().signal,
): Promise<RoutedEvent[]> =>
  collect(
    router.stream({
      model,
      buildRequest: (target) =>
        request("hello", { model: target.entry.name, tools: [], temperature: 0.5 }),
      signal,
      spender: {},
      onOverflow: "fold",
    }),
  )

test("an upstream bears the kind of its wire before the wire is loaded", () => {
  const kind = (spec: Pick<UpstreamSpec, "provider" | "wire">) =>
    createUpstream({ name: "main", options: limits, ...spec }, deps).provider.kind
  expect(kind({ provider: "anthropic" })).toBe(createAnthropic(limits).kind)
  expect(kind({ provider: "openai" })).toBe(createOpenAiChat(limits).kind)
  expect(kind({ provider: "openai", wire: "responses" })).toBe(createOpenAiResponses(limits).kind)
  expect(kind({ provider: "mock" })).toBe(createMock().kind)
})

test("LLM-005: a server that cannot be reached is tried again", async () => {
  const closed = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() })
  const main: Connection = { provider: "openai", baseUrl: `http://127.0.0.1:${closed.port}/v1` }
  await closed.stop(true)
  const events = await ask(routerOver({ main }, [entry("gone")]), "gone")
  expect(ofType(events, "model")).toHaveLength(policy.attempts)
  expect(events.at(-1)).toMatchObject({ failure: { class: "transient" } })
})

test("a venice upstream takes no turns and says so", async () => {
  const connection: Connection = { provider: "venice", baseUrl: "https://venice.invalid" }
  const events = await ask(routerOver({ main: connection }, [entry("painter")]), "painter")
  expect(events.at(-1)).toMatchObject({ failure: { message: expect.stringContaining("draws") } })
})

describe.skipIf(!hasFakeLlm())("against a real server", () => {
  let fake: FakeLlm
  let wires: Connection[]

  beforeAll(async () => {
    fake = await startFakeLlm()
    wires = [
      { provider: "openai", baseUrl: `${fake.url}/v1` },
      { provider: "anthropic", baseUrl: fake.url },
    ]
  })
  afterEach(() => fetch(`${fake.url}/__log`, { method: "DELETE" }))
  afterAll(() => fake.stop())

  test("LLM-005: a 500 is asked again and answered", async () => {
    for (const main of wires) {
      const router = routerOver({ main }, [entry("fake-500-then-ok")])
      const events = await ask(router, "fake-500-then-ok")
      expect(answerOf(events)).toBe("word ".repeat(10))
      expect(ofType(events, "model").map((event) => event.attempt)).toEqual([1, 2])
      expect(events.at(-1)?.type).toBe("stop")
    }
    expect((await fake.log()).map(({ status }) => status)).toEqual([500, 200, 500, 200])
  })

  test("a 429 is asked again no sooner than its retry-after says", async () => {
    const router = routerOver({ main: wires[0]! }, [entry("fake-429-then-ok")])
    const events = await ask(router, "fake-429-then-ok")
    expect(answerOf(events)).toBe("word ".repeat(10))
    expect(ofType(events, "retrying")[0]?.waitMs).toBeGreaterThan(900)
    const [refused, answered] = await fake.log()
    expect(answered!.t - refused!.t).toBeGreaterThanOrEqual(1000)
  })

  test("LLM-006: a stream that broke after its first words is not asked again", async () => {
    for (const main of wires) {
      const events = await ask(routerOver({ main }, [entry("fake-cut")]), "fake-cut")
      expect(answerOf(events)).toStartWith("word ")
      expect(events.at(-1)).toMatchObject({ type: "failed", failure: { class: "transient" } })
      // Counted by the provider or estimated: what was said is paid for.
      expect(ofType(events, "usage")[0]?.usage.prompt_tokens).toBeGreaterThan(0)
      expect(ofType(events, "model")).toHaveLength(1)
    }
  })

  test("LLM-007: the innermost cause of a broken stream is in the log", async () => {
    const warned: LogFields[] = []
    const log: Log = {
      ...silentLog,
      warn: (_message, fields = {}) => warned.push(fields),
      with: () => log,
    }
    await ask(routerOver({ main: wires[0]! }, [entry("fake-cut")], { log }), "fake-cut")
    expect(warned).toEqual([
      { class: "transient", message: expect.stringMatching(/^the connection broke: \S/) },
    ])
    expect(String(warned[0]?.message)).toMatch(/ECONNRESET|closed unexpectedly|terminated/)
  })

  test("an overflow ends the trip with its own class at once", async () => {
    for (const main of wires) {
      const events = await ask(routerOver({ main }, [entry("fake-overflow")]), "fake-overflow")
      expect(events.map((event) => event.type)).toEqual(["model", "failed"])
      expect(events.at(-1)).toMatchObject({ failure: { class: "overflow", status: 400 } })
    }
  })

  test("LLM-004 LLM-008: a dead key of one upstream passes the trip to a model of another wire", async () => {
    const locked = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: () =>
        Response.json({ error: { message: "Incorrect API key provided" } }, { status: 401 }),
    })
    const main: Connection = { provider: "openai", baseUrl: `http://127.0.0.1:${locked.port}/v1` }
    const entries = [entry("locked"), entry("fake", { upstream: "other" })]
    const events = await ask(
      routerOver({ main, other: wires[1]! }, entries, { fallback: ["fake"] }),
      "locked",
    )
    await locked.stop(true)
    expect(answerOf(events)).toBe("word ".repeat(10))
    expect(ofType(events, "model").map((event) => [event.upstream, event.provider])).toEqual([
      ["main", "openai"],
      ["other", "anthropic"],
    ])
    expect(ofType(events, "fallback")[0]?.reason).toContain("Incorrect API key provided")
  })

  test("a cancel reaches a server that says nothing", async () => {
    const cancel = new AbortController()
    const running = ask(
      routerOver({ main: wires[0]! }, [entry("fake-hang")]),
      "fake-hang",
      cancel.signal,
    )
    while ((await fake.log()).length === 0) await sleep(5)
    cancel.abort()
    expect((await running).at(-1)).toMatchObject({ failure: { class: "cancelled" } })
  })
})

test("fields that only the wire knows are left out too", async () => {
  const fields: string[][] = []
  const refused = ["stream_options", "parallel_tool_calls", "reasoning_effort"]
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (received) => {
      const body = (await received.json()) as Record<string, unknown>
      fields.push(refused.filter((field) => field in body))
      const [unknown] = fields.at(-1)!
      if (unknown) {
        const error = { message: `Unrecognized request argument supplied: ${unknown}` }
        return Response.json({ error }, { status: 400 })
      }
      const delta = { choices: [{ index: 0, delta: { content: "ok" }, finish_reason: "stop" }] }
      return new Response(`data: ${JSON.stringify(delta)}\n\ndata: [DONE]\n\n`, {
        headers: { "content-type": "text/event-stream" },
      })
    },
  })
  const main: Connection = { provider: "openai", baseUrl: `http://127.0.0.1:${server.port}/v1` }
  const router = routerOver({ main }, [entry("picky")])
  const events = await collect(
    router.stream({
      model: "picky",
      buildRequest: () => request("hello", { model: "picky", effort: "high" }),
      signal: new AbortController().signal,
      spender: {},
      onOverflow: "fold",
    }),
  )
  await server.stop(true)
  expect(answerOf(events)).toBe("ok")
  expect(fields).toEqual([refused, refused.slice(1), refused.slice(2), []])
})

test("a parameter that a server refuses is left out in the second request and in all later ones", async () => {
  const seen: unknown[] = []
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (received) => {
      const body = (await received.json()) as Record<string, unknown>
      seen.push(body.temperature)
      if (body.temperature !== undefined) {
        const message =
          "Unsupported value: 'temperature' does not support 0.5 with this model. Only the default (1) value is supported."
        const error = { message, type: "invalid_request_error", code: "unsupported_value" }
        return Response.json({ error }, { status: 400 })
      }
      const delta = { choices: [{ index: 0, delta: { content: "ok" }, finish_reason: "stop" }] }
      return new Response(`data: ${JSON.stringify(delta)}\n\ndata: [DONE]\n\n`, {
        headers: { "content-type": "text/event-stream" },
      })
    },
  })
  const main: Connection = { provider: "openai", baseUrl: `http://127.0.0.1:${server.port}/v1` }
  const router = routerOver({ main }, [entry("picky")])
  expect(answerOf(await ask(router, "picky")) + answerOf(await ask(router, "picky"))).toBe("okok")
  await server.stop(true)
  expect(seen).toEqual([0.5, undefined, undefined])
})
