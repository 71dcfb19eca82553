/** Reads what upstreams say about their limits in headers: the state of the windows, and when to come back. */
import { isoTime } from "../lib/clock.ts"
import type { RateLimit } from "../schema/usage.ts"

const ANTHROPIC_HEADER = /^anthropic-ratelimit-(.+)-(limit|remaining|reset)$/
const OPENAI_HEADER = /^x-ratelimit-(limit|remaining|reset)(?:-(.+))?$/

/** The windows that the headers name, in either naming scheme; empty when they name none. `now` is in epoch ms. */
export function readRateLimits(headers: Headers, now: number): RateLimit[] {
  const limits = new Map<string, RateLimit>()
  for (const [header, value] of headers) {
    const anthropic = ANTHROPIC_HEADER.exec(header)
    const openai = OPENAI_HEADER.exec(header)
    if (anthropic) put(limits, { name: anthropic[1]!, field: anthropic[2]!, value, now })
    if (openai) put(limits, { name: openai[2] ?? "requests", field: openai[1]!, value, now })
  }
  return [...limits.values()]
}

/**
 * How long the upstream asks to wait, in milliseconds: `retry-after-ms`, `retry-after` (seconds or a date),
 * else the reset of a window that is used up, else the wait that the message spells out.
 */
export function readRetryAfter(
  headers: Headers | undefined,
  message: string,
  now: number,
): number | undefined {
  const milliseconds = Number(headers?.get("retry-after-ms") ?? Number.NaN)
  if (milliseconds >= 0) return milliseconds
  const after = headers?.get("retry-after")
  if (after) {
    const wait = Number.isNaN(Number(after)) ? Date.parse(after) - now : Number(after) * 1000
    if (wait >= 0) return wait
  }
  const resets = (headers ? readRateLimits(headers, now) : [])
    .filter((limit) => limit.remaining === 0 && limit.reset_at !== undefined)
    .map((limit) => Math.max(0, Date.parse(limit.reset_at!) - now))
  if (resets.length > 0) return Math.max(...resets)
  return readSpelledWait(message)
}

interface HeaderPart {
  name: string
  field: string
  value: string
  now: number
}

function put(limits: Map<string, RateLimit>, part: HeaderPart): void {
  const name = part.name.replaceAll("-", "_")
  const limit = limits.get(name) ?? { name }
  if (part.field === "reset") {
    const reset = readReset(part.value, part.now)
    if (reset !== undefined) limit.reset_at = isoTime(reset)
  } else if (part.value !== "" && Number.isFinite(Number(part.value))) {
    limit[part.field === "limit" ? "limit" : "remaining"] = Number(part.value)
  }
  if (Object.keys(limit).length > 1) limits.set(name, limit)
}

const LATEST_MS = 8.64e15

/**
 * Epoch ms of a reset. Anthropic sends RFC 3339, OpenAI and Groq a duration of Go (`6m0s`, `2m59.56s`, `12ms`),
 * OpenRouter epoch milliseconds, others epoch seconds or plain seconds from now.
 */
function readReset(value: string, now: number): number | undefined {
  const plain = Number(value)
  if (value !== "" && !Number.isNaN(plain)) {
    const reset = plain > 1e11 ? plain : plain > 1e9 ? plain * 1000 : now + plain * 1000
    return Math.abs(reset) <= LATEST_MS ? reset : undefined
  }
  const duration = readGoDuration(value)
  if (duration !== undefined) return now + duration
  const date = Date.parse(value)
  return Number.isNaN(date) ? undefined : date
}

const GO_UNIT_MS: Record<string, number> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 }

function readGoDuration(text: string): number | undefined {
  const pieces = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|h|m|s)/gy)]
  if (pieces.length === 0 || pieces.map((piece) => piece[0]).join("") !== text) return undefined
  return pieces.reduce((sum, [, amount, unit]) => sum + Number(amount) * GO_UNIT_MS[unit!]!, 0)
}

/** OpenAI: "Please try again in 6.5s"; Gemini: "Please retry in 34.07s". */
function readSpelledWait(message: string): number | undefined {
  const found = /(?:try again|retry) in ((?:\d+(?:\.\d+)?(?:ms|h|m|s))+)/i.exec(message)
  return found ? readGoDuration(found[1]!) : undefined
}
