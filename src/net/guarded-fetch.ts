/**
 * Fetches from the public internet only. An address that a model took from somebody's text may point at
 * this machine or its network, where services trust whoever reaches them. So every connection, also that of
 * a redirect, goes to an address that was checked, and to no other: what a name resolves to a moment later
 * does not matter.
 */
import { lookup as systemLookup } from "node:dns/promises"
import type { IncomingMessage } from "node:http"
import { readBody } from "./read-body.ts"

export interface GuardedFetchOptions {
  /** Hosts, or hosts with a port, that may be reached although their addresses are private. */
  allowPrivateHosts: readonly string[]
  /** All addresses of a name; the system's when absent. */
  lookup?: Lookup
}

export type Lookup = (host: string) => Promise<readonly { address: string; family: number }[]>

export interface GuardedRequest {
  headers?: Record<string, string>
  /** Bytes of the decoded body; more are not read. */
  maxBytes: number
  timeoutMs: number
  signal: AbortSignal
}

export interface GuardedReply {
  /** Where the reply came from, after all redirects. */
  url: string
  status: number
  contentType: string
  body: Uint8Array
  /** The body was longer than was read. */
  truncated: boolean
}

/** Why something was not fetched, as a sentence. */
export class GuardedFetchError extends Error {
  override readonly name = "GuardedFetchError"
  /** The shield refused it: no retry helps, only the master's list. */
  readonly isBlocked: boolean

  constructor(message: string, options: { isBlocked?: boolean; cause?: unknown } = {}) {
    super(message, { cause: options.cause })
    this.isBlocked = options.isBlocked ?? false
  }
}

export type GuardedFetch = (url: string, request: GuardedRequest) => Promise<GuardedReply>

const REDIRECTS_MAX = 10
const REDIRECTS = new Set([301, 302, 303, 307, 308])

/** Throws GuardedFetchError. */
export function createGuardedFetch(options: GuardedFetchOptions): GuardedFetch {
  return async (text, request) => {
    const limit = AbortSignal.timeout(request.timeoutMs)
    const signal = AbortSignal.any([request.signal, limit])
    try {
      let url = readUrl(text)
      let headers = request.headers ?? {}
      for (let hop = 0; hop <= REDIRECTS_MAX; hop++) {
        const reply = await openOne(url, { options, headers, signal })
        const next = redirectOf(reply, url)
        if (next === undefined) return await replyOf(reply, url, { ...request, signal })
        reply.destroy()
        // What was meant for one server is not told to another.
        if (next.origin !== url.origin) headers = withoutSecrets(headers)
        url = next
      }
      throw new GuardedFetchError(`${text} leads from one address to the next without an end`)
    } catch (error) {
      if (error instanceof GuardedFetchError || request.signal.aborted) throw error
      throw inWords(error, text, limit.aborted ? request.timeoutMs : undefined)
    }
  }
}

/** Throws GuardedFetchError for what is no URL, or none of http and https. */
export function readUrl(text: string): URL {
  const url = URL.parse(text.trim())
  if (!url) throw new GuardedFetchError(`${text} is no URL; write one such as https://example.org/`)
  if (url.protocol === "http:" || url.protocol === "https:") return url
  const message = `only http and https are fetched, not ${url.protocol}`
  throw new GuardedFetchError(message, { isBlocked: true })
}

/** The checked addresses of a URL's host. Throws GuardedFetchError. */
export async function checkedAddresses(
  url: URL,
  options: GuardedFetchOptions,
): Promise<readonly { address: string; family: number }[]> {
  const { isPublicAddress, literalAddress } = await import("./address.ts")
  const host = url.hostname.replace(/\.$/, "")
  const literal = literalAddress(url.hostname)
  const found =
    literal === undefined
      ? await (options.lookup ?? lookupAll)(host)
      : [{ address: literal, family: literal.includes(":") ? 6 : 4 }]
  if (found.length === 0) throw new GuardedFetchError(`there is no host ${host}`)
  if (isAllowed(url, options.allowPrivateHosts)) return found
  // One private address among public ones is enough: which one is taken is chance.
  const blocked = found.find(({ address }) => !isPublicAddress(address))
  if (blocked === undefined) return found
  const where = literal === undefined ? `${host} (${blocked.address})` : host
  throw new GuardedFetchError(
    `${where} is not on the public internet; the master can allow it in web.allow_private_hosts`,
    { isBlocked: true },
  )
}

const lookupAll: Lookup = (host) => systemLookup(host, { all: true })

function isAllowed(url: URL, allowed: readonly string[]): boolean {
  const host = url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "")
  const port = url.port || (url.protocol === "https:" ? "443" : "80")
  return allowed.some((entry) => {
    const name = entry.toLowerCase().replace(/^\[|\](?=:\d+$|$)/g, "")
    return name === host || name === `${host}:${port}`
  })
}

/** Without the modules until the first page is fetched: the start of the kernel is counted in milliseconds. */
async function openOne(
  url: URL,
  parts: { options: GuardedFetchOptions; headers: Record<string, string>; signal: AbortSignal },
): Promise<IncomingMessage> {
  const { options, headers, signal } = parts
  const addresses = await orAborted(checkedAddresses(url, options), signal)
  const { request } =
    url.protocol === "https:" ? await import("node:https") : await import("node:http")
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const outgoing = request(
    url,
    {
      method: "GET",
      agent: false,
      signal,
      headers: { "accept-encoding": "gzip, deflate, br", ...headers },
      // The connection goes to what was checked, whatever the name means by now.
      lookup: (_host, { all }, done) => {
        const [first] = addresses
        if (all) done(null, [...addresses])
        else done(null, first?.address ?? "", first?.family)
      },
    },
    resolve,
  )
  outgoing.on("error", reject)
  outgoing.end()
  return promise
}

/** A question to a name server cannot be taken back, only left behind. */
async function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const onAbort = (): void => reject(signal.reason)
  signal.addEventListener("abort", onAbort, { once: true })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    signal.removeEventListener("abort", onAbort)
  }
}

function redirectOf(reply: IncomingMessage, from: URL): URL | undefined {
  const { location } = reply.headers
  if (!REDIRECTS.has(reply.statusCode ?? 0) || location === undefined) return undefined
  const next = URL.parse(location, from.href)
  if (!next) throw new GuardedFetchError(`${from} leads to ${location}, which is no URL`)
  return readUrl(next.href)
}

const SECRET_HEADERS = /^(?:authorization|cookie|proxy-authorization|x-api-key)$/i

const withoutSecrets = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !SECRET_HEADERS.test(name)))

async function replyOf(
  reply: IncomingMessage,
  url: URL,
  limits: { maxBytes: number; signal: AbortSignal },
): Promise<GuardedReply> {
  const { body, truncated } = await readBody(reply, limits)
  return {
    url: url.href,
    status: reply.statusCode ?? 0,
    contentType: reply.headers["content-type"] ?? "",
    ...{ body, truncated },
  }
}

const REASONS: Record<string, string> = {
  ECONNREFUSED: "nothing listens there",
  ECONNRESET: "the connection broke",
  ENOTFOUND: "there is no such host",
  EAI_AGAIN: "the name could not be resolved",
  ETIMEDOUT: "no answer",
  CERT_HAS_EXPIRED: "its certificate has expired",
  DEPTH_ZERO_SELF_SIGNED_CERT: "its certificate is its own",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another host",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "its certificate cannot be verified",
}

function inWords(error: unknown, url: string, timeoutMs: number | undefined): GuardedFetchError {
  if (timeoutMs !== undefined) {
    return new GuardedFetchError(`${url} did not answer within ${timeoutMs / 1000} s`)
  }
  const code = error instanceof Error && "code" in error ? String(error.code) : ""
  const reason = REASONS[code] ?? (error instanceof Error ? error.message : String(error))
  return new GuardedFetchError(`${url} cannot be fetched: ${reason}`, { cause: error })
}
