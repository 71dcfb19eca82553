/**
 * One trip to a model: the wanted one with its retries, then the substitutes in their order, each asked with a
 * request of its own. What a trip may cost is checked before it leaves.
 */
import type { Log } from "../lib/log.ts"
import type { Admission, Budget, Spender } from "./budget.ts"
import { createMeter } from "./meter.ts"
import type { Models, Target } from "./models.ts"
import { worstCase } from "./price.ts"
import type { ModelRequest, ProviderEvent, ProviderFailure } from "./provider.ts"
import { attemptsOf, type Outcome, type RetryDeps, type RetryPolicy } from "./retry.ts"
import type { TokenEstimator } from "./tokens.ts"
import type { UnsupportedMemory } from "./unsupported.ts"

export interface Trip {
  model: string
  /**
   * The request for this very model: jailbreak, effort, cache time, the thoughts that may go back and the
   * pictures it can see are its own. Asked once for each model that is considered.
   */
  buildRequest(target: Target): ModelRequest | Promise<ModelRequest>
  signal: AbortSignal
  spender: Spender
  /** Absent: `roles.fallback`. Empty: nobody may step in. */
  fallback?: readonly string[]
  /**
   * What an overflow means. `fold`: the caller folds its history and asks again, so it ends the trip.
   * `larger`: nothing is left to fold, so a substitute with a known larger window is asked, once.
   */
  onOverflow: "fold" | "larger"
  /** Nobody sees the answer before its end, so a broken one may begin anew. */
  unseen?: boolean
}

export type RoutedEvent =
  | ProviderEvent
  /**
   * An attempt starts, and a fold starts anew with it: what came before is void, except usage, which was paid.
   * `provider` is the wire and belongs to the origin of thoughts; `upstream` is the name in the configuration.
   */
  | { type: "model"; model: string; provider: string; upstream: string; attempt: number }
  /** Before attempt number `attempt` there is a wait of about `waitMs`. */
  | { type: "retrying"; model: string; waitMs: number; attempt: number; reason: string }
  | { type: "fallback"; from: string; to: string; reason: string }

export interface RouterOptions extends RetryDeps {
  models: Models
  tokens: TokenEstimator
  policy: RetryPolicy
  unsupported: UnsupportedMemory
  /** Absent: no caps. */
  budget?: Budget
  log: Log
}

export interface Router {
  readonly models: Models
  readonly tokens: TokenEstimator
  /** Ends with `stop` or `failed`. Throws only for a model that is not known and for what `buildRequest` throws. */
  stream(trip: Trip): AsyncIterable<RoutedEvent>
}

export function createRouter(options: RouterOptions): Router {
  const { models, tokens } = options
  return { models, tokens, stream: (trip) => streamTrip(options, trip) }
}

async function* streamTrip(options: RouterOptions, trip: Trip): AsyncGenerator<RoutedEvent> {
  const first = await prepare(options, trip, trip.model)
  const admission = admit(options, trip, first)
  if ("failure" in admission) {
    yield { type: "failed", failure: admission.failure }
    return
  }
  let { failure, shown } = yield* ask(options, trip, { ...first, release: admission.release })
  let last = first
  let mayGrow = trip.onOverflow === "larger"
  const tooSmall: Prepared[] = []
  for (const name of substitutes(options, trip)) {
    if (!failure || shown || !passesOn(failure, mayGrow)) break
    const next = await prepare(options, trip, name)
    if (!fits(options, next) || (failure.class === "overflow" && !isLarger(next, last))) {
      tooSmall.push(next)
      continue
    }
    const admitted = admit(options, trip, next)
    // A substitute that is too dear says nothing about why the wanted model failed.
    if ("failure" in admitted) continue
    if (failure.class === "overflow") mayGrow = false
    yield { type: "fallback", from: nameOf(last), to: name, reason: failure.message }
    ;({ failure, shown } = yield* ask(options, trip, { ...next, release: admitted.release }))
    last = next
  }
  if (!failure) return
  const noneFits = last === first && tooSmall.length > 0
  yield { type: "failed", failure: noneFits ? nothingFits(options, failure, tooSmall) : failure }
}

/** A model with the request that it would get. */
interface Prepared {
  target: Target
  request: ModelRequest
}

const nameOf = (prepared: Prepared): string => prepared.target.entry.name

async function prepare(options: RouterOptions, trip: Trip, name: string): Promise<Prepared> {
  const target = options.models.resolve(name)
  const request = await trip.buildRequest(target)
  return { target, request: options.unsupported.fitting(memoryKey(target), request) }
}

const memoryKey = ({ entry, upstream }: Target): string => `${upstream.name}/${entry.name}`

const substitutes = (options: RouterOptions, trip: Trip): string[] =>
  [...new Set(trip.fallback ?? options.models.roles.fallback)].filter((name) => name !== trip.model)

/** Whether another model may help. Content filters and malformed requests meet everywhere. */
const passesOn = (failure: ProviderFailure, mayGrow: boolean): boolean =>
  ["model", "auth", "transient"].includes(failure.class) ||
  (failure.class === "overflow" && mayGrow)

const windowOf = (prepared: Prepared): number | undefined => prepared.target.entry.contextWindow

const fits = (options: RouterOptions, prepared: Prepared): boolean =>
  promptTokens(options, prepared) <= (windowOf(prepared) ?? Number.POSITIVE_INFINITY)

const promptTokens = (options: RouterOptions, prepared: Prepared): number =>
  options.tokens.request(nameOf(prepared), prepared.request)

/** An unknown window is not known to be larger; one that overflowed unknown is beaten by any that fits. */
const isLarger = (next: Prepared, last: Prepared): boolean =>
  (windowOf(next) ?? 0) > (windowOf(last) ?? 0)

function nothingFits(
  options: RouterOptions,
  failure: ProviderFailure,
  tooSmall: Prepared[],
): ProviderFailure {
  const windows = tooSmall.map(
    (model) => `${nameOf(model)} ${windowOf(model) ?? "of unknown size"}`,
  )
  const needed = Math.max(...tooSmall.map((model) => promptTokens(options, model)))
  const message = `${failure.message}. No substitute has a large enough context window for about ${needed} tokens (${windows.join(", ")}): the history must be folded before the request is repeated`
  return { ...failure, class: "overflow", message }
}

/** Most tokens that an answer without a limit is expected to have. */
const DEFAULT_MAX_OUTPUT_TOKENS = 32_000

function admit(options: RouterOptions, trip: Trip, prepared: Prepared): Admission {
  if (!options.budget) return { release: () => {} }
  const { entry } = prepared.target
  const { maxTokens, cacheTtl } = prepared.request
  const admission = options.budget.admit({
    model: entry.name,
    spender: trip.spender,
    worstCase: worstCase(
      {
        promptTokens: promptTokens(options, prepared),
        maxOutputTokens: maxTokens ?? entry.maxOutput ?? DEFAULT_MAX_OUTPUT_TOKENS,
        writesCache: cacheTtl !== undefined,
      },
      entry.prices,
    ),
  })
  if ("failure" in admission)
    options.log.warn("model refused by budget", {
      model: entry.name,
      reason: admission.failure.message,
    })
  return admission
}

/** All attempts at one model. */
async function* ask(
  options: RouterOptions,
  trip: Trip,
  { target, request, release }: Prepared & { release(): void },
): AsyncGenerator<RoutedEvent, Outcome> {
  const { entry, upstream } = target
  const model = entry.name
  const log = options.log.with({ model, upstream: upstream.name })
  const meter = createMeter({ entry, request, tokens: options.tokens })
  const attempts = attemptsOf({
    provider: upstream.provider,
    pace: upstream.pace,
    request,
    signal: trip.signal,
    policy: options.policy,
    deps: options,
    unseen: trip.unseen ?? false,
    simplified: (sent, failure) => options.unsupported.simplified(memoryKey(target), sent, failure),
  })
  try {
    for await (const event of attempts) {
      switch (event.type) {
        case "attempt": {
          yield* meter.close()
          const provider = upstream.provider.kind
          yield { type: "model", model, provider, upstream: upstream.name, attempt: event.attempt }
          break
        }
        case "retrying":
          log.warn("model retry", {
            wait_ms: event.waitMs,
            attempt: event.attempt,
            reason: event.reason,
          })
          yield { ...event, model }
          break
        case "ended":
          yield* meter.close()
          if (event.failure) log.warn("model failed", { ...event.failure })
          return event
        default:
          yield* meter.pass(event)
      }
    }
  } finally {
    release()
  }
  throw new Error("attempts ended without an end")
}
