/** A router over scripted upstreams, on a clock that moves only by waiting. */
import { manualClock } from "../../src/lib/clock.ts"
import { silentLog } from "../../src/lib/log.ts"
import { createModels, type ModelEntry } from "../../src/llm/models.ts"
import type { Upstream } from "../../src/llm/named-upstream.ts"
import { createPace } from "../../src/llm/pace.ts"
import type {
  ModelRequest,
  Provider,
  ProviderEvent,
  ProviderFailure,
} from "../../src/llm/provider.ts"
import type { RetryPolicy } from "../../src/llm/retry.ts"
import {
  createRouter,
  type RoutedEvent,
  type RouterOptions,
  type Trip,
} from "../../src/llm/router.ts"
import { createTokenEstimator } from "../../src/llm/tokens.ts"
import { createUnsupportedMemory } from "../../src/llm/unsupported.ts"
import { collect, request } from "./requests.ts"

export type Script = ProviderEvent[][]

export const says = (text: string): ProviderEvent[] => [
  { type: "text", text },
  { type: "stop", reason: "end" },
]

export const fails = (
  kind: ProviderFailure["class"],
  more: Partial<ProviderFailure> = {},
): ProviderEvent[] => [
  { type: "failed", failure: { class: kind, message: `${kind} failure`, ...more } },
]

export const policy: RetryPolicy = {
  attempts: 4,
  budgetMs: 120_000,
  firstDelayMs: 500,
  maxDelayMs: 30_000,
}

export const entry = (name: string, more: Partial<ModelEntry> = {}): ModelEntry => ({
  name,
  multimodal: false,
  imageOutput: false,
  ...more,
})

export interface SetUp {
  /** What each model answers, trip by trip; a model not named here is not asked. */
  scripts: Record<string, Script>
  /** Further facts of a model. */
  entries?: ModelEntry[]
  fallback?: string[]
  options?: Partial<RouterOptions>
}

/** Time passes in `sleep` alone, and sleepers of different chats wake in order. */
export function manualTime() {
  const clock = manualClock(1_000_000)
  const waits: number[] = []
  const sleep = async (ms: number): Promise<void> => {
    if (ms > 0) waits.push(ms)
    clock.advance(ms)
  }
  return { clock, waits, sleep, random: () => 0.5 }
}

export function setUp({ scripts, entries = [], fallback = [], options = {} }: SetUp) {
  const time = manualTime()
  const asked: ModelRequest[] = []
  const provider: Provider = {
    kind: "scripted",
    async *stream(sent, signal) {
      asked.push(sent)
      const events = scripts[sent.model]?.shift()
      if (!events) throw new Error(`nothing scripted for ${sent.model}`)
      for (const event of events) {
        yield signal.aborted ? fails("cancelled")[0]! : event
        if (signal.aborted) return
      }
    },
  }
  const upstream = (name: string): Upstream => ({
    name,
    provider,
    pace: createPace(time),
    defaults: {},
  })
  const known = Object.keys(scripts).map(
    (name) => entries.find((given) => given.name === name) ?? entry(name),
  )
  const upstreams = Object.fromEntries(
    known.flatMap((model) => (model.upstream ? [[model.upstream, upstream(model.upstream)]] : [])),
  )
  const models = createModels({
    entries: known,
    roles: { general: known[0]!.name, fallback },
    main: upstream("main"),
    upstreams,
  })
  const tokens = createTokenEstimator()
  const router = createRouter({
    ...time,
    models,
    tokens,
    policy,
    unsupported: createUnsupportedMemory(),
    log: silentLog,
    ...options,
  })
  const run = (more: Partial<Trip> = {}): Promise<RoutedEvent[]> =>
    collect(
      router.stream({
        model: known[0]!.name,
        buildRequest: (target) => request("hello", { model: target.entry.name }),
        signal: new AbortController().signal,
        spender: {},
        onOverflow: "fold",
        ...more,
      }),
    )
  return { router, run, asked, tokens, ...time }
}

export const ofType = <K extends RoutedEvent["type"]>(events: RoutedEvent[], type: K) =>
  events.filter((event): event is Extract<RoutedEvent, { type: K }> => event.type === type)

export const answerOf = (events: RoutedEvent[]): string =>
  ofType(events, "text")
    .map((event) => event.text)
    .join("")
