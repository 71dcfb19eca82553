/**
 * The way out to an upstream: its options, and the one `fetch` of both vendor SDKs. It follows no redirect,
 * reads a bounded error body itself, and turns every answer that is no 2xx into an UpstreamRefusal.
 */
import type { Clock } from "../lib/clock.ts"
import { readBounded } from "./read-bounded.ts"

export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

export interface UpstreamOptions {
  apiKey?: string
  /** With the version folder, as the vendor's own SDK wants it. */
  baseUrl?: string
  proxy?: string
  /** The upstream understands a JSON Schema for the answer (`llm.structured_output`). */
  structuredOutput?: boolean
  /** From the request until the first delta. */
  firstTokenTimeoutMs: number
  /** Between two frames with a payload; comments and pings do not count. */
  silenceTimeoutMs: number
  /** Reads relative reset times. */
  clock?: Clock
  fetch?: Fetch
}

/** An answer that is no 2xx. The message stays neutral: the SDKs look for words such as "timeout" in it. */
export class UpstreamRefusal extends Error {
  override readonly name = "UpstreamRefusal"
  readonly status: number
  readonly headers: Headers
  readonly body: string

  constructor(status: number, headers: Headers, body: string) {
    super("the upstream refused the request")
    this.status = status
    this.headers = headers
    this.body = body
  }
}

const ERROR_BODY_MAX_BYTES = 64 * 1024

/** The SDKs have a limit of their own, ten minutes by default; ours must always come first. */
export const SDK_TIMEOUT_MS = 2 ** 31 - 1

/** A placeholder for local servers that want no key: the SDKs refuse to start without one. It never leaves. */
export const NO_KEY = "none"

const CREDENTIAL_HEADERS = ["authorization", "x-api-key"]

/** `redirect: manual`, because a redirect to another origin would carry `x-api-key` along. */
export function upstreamFetch(options: UpstreamOptions): Fetch {
  const send: Fetch = options.fetch ?? fetch
  const extra: BunFetchRequestInit = options.proxy ? { proxy: options.proxy } : {}
  return async (input, init) => {
    const headers = new Headers(init?.headers)
    if (!options.apiKey) for (const name of CREDENTIAL_HEADERS) headers.delete(name)
    const response = await send(input, { ...init, ...extra, headers, redirect: "manual" })
    if (response.ok) return response
    const body = await readBounded(response.body, ERROR_BODY_MAX_BYTES)
    throw new UpstreamRefusal(response.status, response.headers, body)
  }
}
