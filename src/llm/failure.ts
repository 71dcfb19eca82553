/** From what went wrong to a class that says what helps. Pure: no headers, no keys in the message. */
import { head } from "../lib/text.ts"
import { isOverflow } from "./overflow.ts"
import type { FailureClass, ProviderFailure } from "./provider.ts"
import { readRetryAfter } from "./rate-limits.ts"
import { UpstreamRefusal } from "./upstream.ts"
import { readErrorBody, type UpstreamError } from "./upstream-error.ts"
import { WaitInterrupted } from "./wait.ts"

/** Thrown inside a wire to end its stream with this failure; the stream's owner catches it. */
export class StreamFailure extends Error {
  override readonly name = "StreamFailure"
  readonly failure: ProviderFailure

  constructor(failure: ProviderFailure) {
    super(failure.message)
    this.failure = failure
  }
}

export interface FailureContext {
  /** Epoch ms. */
  now: number
  headers?: Headers
}

const MESSAGE_MAX_CHARS = 600

/** The failure of an upstream's error, sent as an answer or inside a stream. */
export function upstreamFailure(error: UpstreamError, context: FailureContext): ProviderFailure {
  const failure: ProviderFailure = {
    class: classOf(error),
    message: head(
      error.status ? `HTTP ${error.status}: ${error.message}` : error.message,
      MESSAGE_MAX_CHARS,
    ),
  }
  if (error.status !== undefined) failure.status = error.status
  if (failure.class === "transient") {
    const wait = readRetryAfter(context.headers, error.message, context.now)
    if (wait !== undefined) failure.retryAfterMs = wait
  }
  return failure
}

/** The failure of anything thrown between the request and the last byte. */
export function thrownFailure(thrown: unknown, now: number): ProviderFailure {
  for (const cause of causes(thrown)) {
    if (cause instanceof StreamFailure) return cause.failure
    if (cause instanceof WaitInterrupted) {
      return {
        class: cause.reason === "cancelled" ? "cancelled" : "transient",
        message: cause.message,
      }
    }
    if (cause instanceof UpstreamRefusal) {
      const error = readErrorBody(cause.body, cause.status)
      return upstreamFailure(error, { now, headers: cause.headers })
    }
  }
  return {
    class: "transient",
    message: head(`the connection broke: ${innermost(thrown)}`, MESSAGE_MAX_CHARS),
  }
}

/** The error with its causes, outermost first. */
export function causes(thrown: unknown): unknown[] {
  const chain: unknown[] = []
  let current = thrown
  while (current !== undefined && current !== null && chain.length < 8) {
    chain.push(current)
    if (!(current instanceof Error)) break
    current = current instanceof AggregateError ? current.errors[0] : current.cause
  }
  return chain
}

/** What really happened, under all the wrappers: the code of the system and the text of the last cause. */
function innermost(thrown: unknown): string {
  const cause = causes(thrown).at(-1)
  if (!(cause instanceof Error)) return String(cause)
  const code = "code" in cause && typeof cause.code === "string" ? cause.code : undefined
  const text = cause.message || cause.name
  return code && !text.includes(code) ? `${code}: ${text}` : text
}

const REFUSED_CODES: ReadonlySet<string> = new Set([
  "content_filter", // Azure, 400
  "content_policy_violation", // OpenAI
  "responsibleaipolicyviolation", // Azure, inner code
  "data_inspection_failed", // Alibaba
  "moderation_blocked", // OpenAI images
])
const REFUSED_WORDING =
  /content (?:management|filtering) policy|content[ _]filter|flagged (?:as|by|for)|moderation|violat\w+ (?:our|the) (?:usage|content) polic/i

const SPENT_CODES: ReadonlySet<string> = new Set([
  "insufficient_quota",
  "billing_error",
  "billing_hard_limit_reached",
  "billing_not_active",
  "insufficient_balance",
])
/** A limit that no short wait lifts. "Rate limit" and "tokens per minute" must not match here. */
const SPENT_WORDING =
  /exceeded your current quota|credit balance is too low|insufficient (?:balance|credits|funds|quota)|out of credits|spend(?:ing)? limit|usage limit (?:reached|exceeded)|payment required|requires more credits|billing/i

const GONE_CODES: ReadonlySet<string> = new Set([
  "model_not_found",
  "model_decommissioned",
  "model_not_supported",
  "not_found_error",
  "unsupported_model",
])
const GONE_WORDING =
  /model\b.{0,120}\b(?:does not exist|not found|not available|decommissioned|deprecated|no longer (?:available|supported)|is not supported)|(?:invalid|unknown|no such) model|no endpoints found|does not support (?:tools|images?|image input|thinking|function)/i

const TRANSIENT_KINDS: ReadonlySet<string> = new Set([
  "overloaded_error",
  "api_error",
  "rate_limit_error",
  "rate_limit_exceeded",
  "timeout_error",
  "server_error",
  "internal_error",
  "internal_server_error",
  "service_unavailable",
  "tool_use_failed", // Groq: the model wrote an unreadable call; it may do better the next time
])
const AUTH_KINDS: ReadonlySet<string> = new Set([
  "authentication_error",
  "invalid_api_key",
  "permission_error",
  "invalid_authentication_error",
])

/** 408 timeout, 409 conflict and lock, 425 too early, 429 too many. */
const TRANSIENT_STATUS: ReadonlySet<number> = new Set([408, 409, 425, 429])

/**
 * From the most telling sign to the least: the code, then the words that have only one meaning, then the
 * status. An overflow is never read into a 429 or a billing answer.
 */
function classOf(error: UpstreamError): FailureClass {
  const { status, message } = error
  const kinds = [error.code, error.type].flatMap((kind) => (kind ? [kind.toLowerCase()] : []))
  const is = (set: ReadonlySet<string>): boolean => kinds.some((kind) => set.has(kind))

  // Gemini names "quota" and "billing" in limits of a minute too, and then says how long to wait.
  const spent = SPENT_WORDING.test(message) && !/(?:try again|retry) in \d/i.test(message)
  if (is(SPENT_CODES) || status === 402 || spent) return "model"
  const limited = status === 429 || status === 401 || status === 403
  if (!limited && (status === 413 || isOverflow(kinds, message))) return "overflow"
  if (is(REFUSED_CODES)) return "refused"
  if (status !== 429 && REFUSED_WORDING.test(message)) return "refused"
  if (is(GONE_CODES) || status === 404 || status === 410) return "model"
  if (status === 401 || (status === 403 && !GONE_WORDING.test(message))) return "auth"
  if (status !== undefined && (TRANSIENT_STATUS.has(status) || status >= 500)) return "transient"
  if (GONE_WORDING.test(message)) return "model"
  if (is(AUTH_KINDS)) return "auth"
  if (is(TRANSIENT_KINDS)) return "transient"
  // A moved upstream: nothing is wrong with the request, and another entry may live elsewhere.
  if (status !== undefined && status < 400) return "model"
  if (status !== undefined) return "fatal"
  // Inside a stream and without a status: the upstream had already taken the request for good.
  return "transient"
}
