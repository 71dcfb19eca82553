/** What the wire tests share: recorded streams, a server that replays them, a request, and a run to its end. */
import { existsSync } from "node:fs"
import { parseJson } from "../../src/lib/json.ts"
import { createAnthropic } from "../../src/llm/anthropic.ts"
import { createFold } from "../../src/llm/fold.ts"
import { createOpenAiChat } from "../../src/llm/openai-chat.ts"
import { createOpenAiResponses } from "../../src/llm/openai-responses.ts"
import type { ModelRequest, Provider, ProviderEvent } from "../../src/llm/provider.ts"
import type { UpstreamOptions } from "../../src/llm/upstream.ts"

const SHARED = new URL("../../../shared/", import.meta.url).pathname
export const STREAMS = `${SHARED}data/streams/streams.jsonl`
export const FRAMINGS = `${SHARED}data/streams/sse_parse.jsonl`

/** Says why a test does not run; true when the file is there. */
export function present(path: string): boolean {
  if (existsSync(path)) return true
  process.stderr.write(`skipped: ${path} is absent\n`)
  return false
}

/** The lines of a JSONL file; none when it is absent. */
export async function readLines<T>(path: string): Promise<T[]> {
  if (!present(path)) return []
  const text = await Bun.file(path).text()
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => parseJson(line) as T)
}

export type Protocol = "openai-chat" | "openai-responses" | "anthropic-messages"

const FACTORIES: Record<Protocol, (options: UpstreamOptions) => Provider> = {
  "openai-chat": createOpenAiChat,
  "openai-responses": createOpenAiResponses,
  "anthropic-messages": createAnthropic,
}

export const LIMITS = { firstTokenTimeoutMs: 10_000, silenceTimeoutMs: 10_000 }

export function createWire(protocol: Protocol, options: Partial<UpstreamOptions> = {}): Provider {
  return FACTORIES[protocol]({ ...LIMITS, apiKey: "test-key", ...options })
}

export const REQUEST: ModelRequest = {
  model: "m",
  system: [{ text: "Be brief." }],
  messages: [{ role: "user", blocks: [{ type: "text", text: "hello" }] }],
  tools: [],
  effort: "off",
  images: new Map(),
}

export const never = (): AbortSignal => new AbortController().signal

/** All events of a run. */
export async function collect(events: AsyncIterable<ProviderEvent>): Promise<ProviderEvent[]> {
  const all: ProviderEvent[] = []
  for await (const event of events) all.push(event)
  return all
}

/** Folds events the way the turn does. */
export function fold(events: readonly ProviderEvent[]) {
  let made = 0
  const folder = createFold({ provider: "p", model: "m" }, () => `made_${++made}`)
  for (const event of events) folder.push(event)
  const folded = folder.result()
  const joined = (type: "text" | "thinking"): string =>
    folded.blocks.map((block) => (block.type === type ? block.text : "")).join("")
  const calls = folded.blocks.flatMap((block) =>
    block.type === "tool_use"
      ? [{ id: block.id, name: block.name, args: block.raw ?? block.input }]
      : [],
  )
  return { ...folded, text: joined("text"), thinking: joined("thinking"), calls }
}

export const lastOf = (events: readonly ProviderEvent[]): ProviderEvent | undefined => events.at(-1)

/** The failure that ended a run. */
export function failureOf(events: readonly ProviderEvent[]) {
  const last = lastOf(events)
  return last?.type === "failed" ? last.failure : undefined
}

export interface Upstream {
  url: string
  /** Bodies and headers of the requests that came, in order. */
  requests: { path: string; headers: Headers; body: Record<string, unknown> }[]
  stop(): Promise<void>
}

/** A real server on a free port that answers as told and keeps what it was sent. */
export function serve(answer: (request: Request) => Response | Promise<Response>): Upstream {
  const requests: Upstream["requests"] = []
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    development: false,
    fetch: async (request) => {
      const path = new URL(request.url).pathname
      const text = await request.clone().text()
      const body = (text ? parseJson(text) : {}) as Record<string, unknown>
      requests.push({ path, headers: request.headers, body })
      return answer(request)
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    requests,
    stop: () => server.stop(true),
  }
}

export const sse = (
  body: string | ReadableStream<Uint8Array>,
  headers: Record<string, string> = {},
): Response => new Response(body, { headers: { "content-type": "text/event-stream", ...headers } })

/** Runs one request against a server that ends every answer at once; gives the body that arrived. */
export async function sentBody(
  protocol: Protocol,
  request: Partial<ModelRequest>,
  options: Partial<UpstreamOptions> = {},
): Promise<Record<string, unknown>> {
  const upstream = serve(() => sse("data: [DONE]\n\n"))
  const provider = createWire(protocol, {
    baseUrl: `${upstream.url}/v1`,
    ...options,
    // Whatever address the upstream pretends to have, the bytes go to this server.
    fetch: (input, init) => {
      const { pathname } = new URL(input instanceof Request ? input.url : input)
      return fetch(`${upstream.url}${pathname}`, init)
    },
  })
  await collect(provider.stream({ ...REQUEST, ...request }, never()))
  await upstream.stop()
  return upstream.requests[0]!.body
}
