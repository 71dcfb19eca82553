/**
 * The door: who may talk to this kernel at all. A page in the owner's browser must not reach it by a
 * foreign name (DNS rebinding) or across sites, and a caller without the token sees only what is open.
 * Nobody is trusted for his address; forwarding headers count only behind `server.trust_proxy`.
 */
import { isLoopback, parseListen } from "../config/listen.ts"
import type { ErrorCode } from "../lib/error.ts"

export interface DoorRules {
  /** ADDRESS:PORT of the configuration. */
  listen: string
  /** Further names that a Host header may carry. */
  hosts: readonly string[]
  /** Web origins whose pages may call. */
  cors: readonly string[]
  token?: string | undefined
  /** X-Forwarded-Host may name the public host that a page sees. */
  trust_proxy: boolean
}

/** What of a request the door looks at. */
export interface Caller {
  method: string
  path: string
  headers: Pick<Headers, "get">
}

export type Verdict =
  | { kind: "pass"; headers: Record<string, string> }
  /** A browser asks beforehand whether a listed page may call. */
  | { kind: "preflight"; headers: Record<string, string> }
  | { kind: "refuse"; code: ErrorCode; error: string; headers: Record<string, string> }

const REQUEST_HEADERS = "authorization, content-type, idempotency-key, last-event-id, x-eva-token"
const REQUEST_METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE"
const PREFLIGHT_SECONDS = 600

/** Paths that answer without a token: nothing on them is private or can be changed. */
export function isOpenPath(path: string): boolean {
  if (path === "/" || path === "/health" || path === "/v1/openapi.json") return true
  return path === "/apidocs" || path.startsWith("/apidocs/") || path.startsWith("/images/")
}

/** Judges one request; pure, so that every rule can be tested as a row of a table. */
export function judge(caller: Caller, rules: DoorRules): Verdict {
  const { method, path, headers } = caller
  const host = headers.get("host")
  if (!isKnownHost(host, rules)) return refuse("forbidden", hostError(host))

  const site = crossSite(caller, rules)
  if (site.error !== undefined) return refuse("forbidden", site.error)
  if (method === "OPTIONS" && site.origin && headers.get("access-control-request-method")) {
    return { kind: "preflight", headers: preflightHeaders(site.origin, headers) }
  }
  const granted = site.origin ? corsHeaders(site.origin) : {}
  const open = isOpenPath(path) && (method === "GET" || method === "HEAD")
  if (open || rules.token === undefined || sameSecret(presented(headers), rules.token)) {
    return { kind: "pass", headers: granted }
  }
  const error = "a token is needed: send Authorization: Bearer TOKEN, or X-Eva-Token: TOKEN"
  return refuse("unauthorized", error, { ...granted, "WWW-Authenticate": "Bearer" })
}

const refuse = (
  code: ErrorCode,
  error: string,
  headers: Record<string, string> = {},
): Extract<Verdict, { kind: "refuse" }> => ({ kind: "refuse", code, error, headers })

const hostError = (host: string | null): string =>
  `the Host header ${JSON.stringify(host?.slice(0, 100) ?? "")} is not a name of this kernel; ` +
  "use localhost, or list the name in server.hosts"

function isKnownHost(host: string | null, rules: DoorRules): boolean {
  const name = hostName(host)
  if (name === undefined) return false
  if (isLoopback(name)) return true
  const listen = parseListen(rules.listen)?.hostname.toLowerCase()
  return name === listen || rules.hosts.some((known) => hostName(known) === name)
}

/** `Eva.Example.:8090` → `eva.example`; `[::1]:8090` → `::1`; undefined when it is no host. */
function hostName(host: string | null | undefined): string | undefined {
  const [, ipv6, name] =
    /^(?:\[([0-9a-f:.]+)\]|([^\s:/@[\]]+?)\.?)(?::\d*)?$/i.exec(host ?? "") ?? []
  return (ipv6 ?? name)?.toLowerCase()
}

/** The listed origin that calls, nothing for a same-site or browserless call, or why it is refused. */
function crossSite(
  { method, path, headers }: Caller,
  rules: DoorRules,
): { origin?: string; error?: string } {
  const origin = headers.get("origin")
  if (origin !== null) {
    if (rules.cors.includes(origin)) return { origin }
    if (isOwnOrigin(origin, headers, rules)) return {}
    return { error: `pages of ${origin.slice(0, 100)} may not call this kernel; see server.cors` }
  }
  // Links and pictures of other sites carry no Origin. They may lead to what is open, and nowhere else.
  const open = isOpenPath(path) && (method === "GET" || method === "HEAD")
  return headers.get("sec-fetch-site") === "cross-site" && !open
    ? { error: "pages of other sites may not call this kernel; see server.cors" }
    : {}
}

/** Whether the page came from the very host that it calls. */
function isOwnOrigin(origin: string, headers: Caller["headers"], rules: DoorRules): boolean {
  const called = [headers.get("host")]
  const forwarded = headers.get("x-forwarded-host")
  if (rules.trust_proxy && isKnownHost(forwarded, rules)) called.push(forwarded)
  const host = URL.parse(origin)?.host
  return called.some((name) => host !== undefined && name?.toLowerCase() === host)
}

const corsHeaders = (origin: string): Record<string, string> => ({
  "Access-Control-Allow-Origin": origin,
  "Access-Control-Expose-Headers": "X-Eva-Version",
  Vary: "Origin",
})

function preflightHeaders(origin: string, headers: Caller["headers"]): Record<string, string> {
  const isLocalNetwork = headers.get("access-control-request-private-network") === "true"
  return {
    ...corsHeaders(origin),
    "Access-Control-Allow-Methods": REQUEST_METHODS,
    "Access-Control-Allow-Headers": REQUEST_HEADERS,
    "Access-Control-Max-Age": String(PREFLIGHT_SECONDS),
    ...(isLocalNetwork && { "Access-Control-Allow-Private-Network": "true" }),
  }
}

function presented(headers: Caller["headers"]): string | undefined {
  const bearer = /^Bearer +(.+)$/i.exec(headers.get("authorization") ?? "")?.[1]?.trim()
  return bearer ?? headers.get("x-eva-token") ?? undefined
}

/**
 * Compares digests, and each to its last byte, so that neither the length nor the first wrong byte shows in the
 * time it takes. Bun's own hash: to load node:crypto takes a tenth of the start.
 */
function sameSecret(given: string | undefined, expected: string): boolean {
  if (given === undefined) return false
  const digest = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest()
  const wanted = digest(expected)
  const difference = digest(given).reduce((bits, byte, index) => bits | (byte ^ wanted[index]!), 0)
  return difference === 0
}
