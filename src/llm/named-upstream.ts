/**
 * An upstream as the configuration names it: the wire to it, its pace and its defaults. The wire is loaded by
 * the first request: no vendor's code runs before it is needed.
 */
import type { Clock } from "../lib/clock.ts"
import { errorText } from "../lib/error.ts"
import type { Effort } from "../schema/effort.ts"
import type { MockOptions } from "./mock.ts"
import { createPace, type Pace, type Sleep } from "./pace.ts"
import type { Provider } from "./provider.ts"
import type { UpstreamOptions } from "./upstream.ts"

export type ProviderName = "anthropic" | "openai" | "mock" | "venice"

/** What holds for requests to this upstream unless something nearer says otherwise. */
export interface UpstreamDefaults {
  temperature?: number
  effort?: Effort
  cacheTtl?: "5m" | "1h"
}

export interface UpstreamSpec {
  /** Of `llm.providers`, or `main`. */
  name: string
  provider: ProviderName
  /** Of an `openai` upstream: Chat Completions, or Responses. */
  wire?: "chat" | "responses"
  options: UpstreamOptions
  defaults?: UpstreamDefaults
}

export interface Upstream {
  name: string
  provider: Provider
  /** Shared by all who ask this upstream. */
  pace: Pace
  defaults: UpstreamDefaults
}

export interface UpstreamDeps {
  clock: Clock
  sleep: Sleep
  /** A fraction in [0, 1). */
  random: () => number
  /** For upstreams of the provider `mock`. */
  mock?: MockOptions
}

/** Opens nothing and loads nothing yet; options that the wire cannot use show with the first request. */
export function createUpstream(spec: UpstreamSpec, deps: UpstreamDeps): Upstream {
  return {
    name: spec.name,
    provider: lazyProvider(kindOf(spec), () => loadWire(spec, deps)),
    pace: createPace(deps),
    defaults: spec.defaults ?? {},
  }
}

const kindOf = ({ provider, wire }: UpstreamSpec): string =>
  provider === "openai" && wire === "responses" ? "openai-responses" : provider

async function loadWire({ provider, wire, options }: UpstreamSpec, deps: UpstreamDeps) {
  switch (provider) {
    case "anthropic":
      return (await import("./anthropic.ts")).createAnthropic(options)
    case "openai":
      return wire === "responses"
        ? (await import("./openai-responses.ts")).createOpenAiResponses(options)
        : (await import("./openai-chat.ts")).createOpenAiChat(options)
    case "mock":
      return (await import("./mock.ts")).createMock(deps.mock)
    case "venice":
      return drawsOnly
  }
}

const drawsOnly: Provider = {
  kind: "venice",
  async *stream() {
    const message = "a venice upstream only draws pictures: it takes no turns"
    yield { type: "failed", failure: { class: "model", message } }
  },
}

function lazyProvider(kind: string, load: () => Promise<Provider>): Provider {
  let provider: Provider | undefined
  return {
    kind,
    async *stream(request, signal) {
      try {
        provider ??= await load()
      } catch (thrown) {
        yield { type: "failed", failure: { class: "fatal", message: errorText(thrown) } }
        return
      }
      yield* provider.stream(request, signal)
    },
  }
}
