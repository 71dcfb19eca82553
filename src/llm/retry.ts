/**
 * One model, several attempts. A failure that time heals is waited out and the request sent again, as long as
 * nothing of an answer was shown; every wait is told, can be cancelled, and has a limit.
 */
import type { Clock } from "../lib/clock.ts"
import { errorText } from "../lib/error.ts"
import type { Pace, Sleep } from "./pace.ts"
import type { ModelRequest, Provider, ProviderEvent, ProviderFailure } from "./provider.ts"

export interface RetryPolicy {
  /** Attempts in all, the first included. */
  attempts: number
  /** No attempt starts later than this after the first. */
  budgetMs: number
  /** Wait before the second attempt; it doubles from there. */
  firstDelayMs: number
  maxDelayMs: number
}

export interface RetryDeps {
  clock: Clock
  sleep: Sleep
  /** A fraction in [0, 1). */
  random: () => number
}

export type AttemptEvent =
  | Exclude<ProviderEvent, { type: "failed" }>
  /** A new attempt starts: thoughts of the one before are void. */
  | { type: "attempt"; attempt: number }
  /** Before attempt number `attempt` there is a wait of about `waitMs`. */
  | { type: "retrying"; waitMs: number; attempt: number; reason: string }
  /** Always the last event. */
  | ({ type: "ended" } & Outcome)

export interface Outcome {
  failure: ProviderFailure | undefined
  /** Some of an answer has reached the consumer: no other attempt may begin it again. */
  shown: boolean
}

export interface Attempts {
  provider: Provider
  pace: Pace
  request: ModelRequest
  signal: AbortSignal
  policy: RetryPolicy
  deps: RetryDeps
  /** Nobody sees the answer before its end, so it may begin anew at any point. */
  unseen: boolean
  /** The request without what the upstream does not know; undefined when that is not what failed. */
  simplified(request: ModelRequest, failure: ProviderFailure): ModelRequest | undefined
}

/** The events of all attempts; what ended the last one stands in `ended`. */
export async function* attemptsOf(run: Attempts): AsyncGenerator<AttemptEvent> {
  yield { type: "ended", ...(yield* repeated(run)) }
}

async function* repeated(run: Attempts): AsyncGenerator<AttemptEvent, Outcome> {
  const { policy, pace, deps, signal } = run
  const start = deps.clock.monotonic()
  const leftMs = () => policy.budgetMs - (deps.clock.monotonic() - start)
  let request = run.request
  let reason = "the upstream asked everybody to wait"
  let backoffMs = 0
  for (let attempt = 1; ; attempt++) {
    const waitMs = Math.max(backoffMs, pace.expectedWaitMs())
    if (waitMs > leftMs()) return { failure: tooLong(reason, waitMs, policy), shown: false }
    if (waitMs > 0) {
      yield { type: "retrying", waitMs, attempt, reason }
      await deps.sleep(backoffMs, signal)
    }
    await pace.enter(signal)
    if (signal.aborted) return { failure: CANCELLED, shown: false }

    yield { type: "attempt", attempt }
    const { failure, shown } = yield* oneAttempt(run, request)
    if (!failure) pace.succeeded()
    if (!failure || shown) return { failure, shown }

    const simpler = run.simplified(request, failure)
    if (simpler) {
      request = simpler
      backoffMs = 0
      attempt--
      continue
    }
    if (isLimit(failure)) pace.limited(failure.retryAfterMs)
    if (failure.class !== "transient" || attempt >= policy.attempts) return { failure, shown }
    reason = failure.message
    backoffMs = backoffOf(attempt, policy, deps.random)
  }
}

const CANCELLED: ProviderFailure = { class: "cancelled", message: "cancelled" }

/** Exponential with equal jitter: half of the delay is certain, half is chance. */
function backoffOf(attempt: number, policy: RetryPolicy, random: () => number): number {
  const delay = Math.min(policy.maxDelayMs, policy.firstDelayMs * 2 ** (attempt - 1))
  return delay / 2 + (delay / 2) * random()
}

/** The upstream as a whole wants fewer requests, whoever sends them (429; 503 and 529 mean overload). */
const isLimit = (failure: ProviderFailure): boolean =>
  failure.class === "transient" &&
  (failure.retryAfterMs !== undefined || [429, 503, 529].includes(failure.status ?? 0))

const seconds = (ms: number): string => `${Math.ceil(ms / 1000)} s`

const tooLong = (reason: string, waitMs: number, policy: RetryPolicy): ProviderFailure => ({
  class: "transient",
  message: `${reason} (the wait of ${seconds(waitMs)} would pass the limit of ${seconds(policy.budgetMs)} for repeating a request)`,
  retryAfterMs: waitMs,
})

async function* oneAttempt(
  run: Attempts,
  request: ModelRequest,
): AsyncGenerator<AttemptEvent, Outcome> {
  let shown = false
  try {
    for await (const event of run.provider.stream(request, run.signal)) {
      if (event.type === "failed") return { failure: event.failure, shown }
      shown ||= !run.unseen && isSubstance(event)
      yield event
      if (event.type === "stop") return { failure: undefined, shown }
    }
  } catch (thrown) {
    // Against the contract of a provider; the turn must end in words all the same.
    return { failure: { class: "fatal", message: errorText(thrown) }, shown }
  }
  return { failure: { class: "transient", message: "the stream ended without an end" }, shown }
}

/** Text, a call or a picture. A thought is no answer yet and may be thought again. */
const isSubstance = (event: ProviderEvent): boolean =>
  (event.type === "text" && event.text !== "") ||
  event.type === "tool_call" ||
  event.type === "image"
