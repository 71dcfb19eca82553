/** The llm section of the configuration as models, upstreams and the router over them. */
import type { Config } from "../config/schema.ts"
import { sleep } from "../lib/async.ts"
import type { Clock } from "../lib/clock.ts"
import { errorText } from "../lib/error.ts"
import { random } from "../lib/id.ts"
import type { Log } from "../lib/log.ts"
import type { TimeZone } from "../lib/time-zone.ts"
import { createBudget } from "../llm/budget.ts"
import type { MockOptions } from "../llm/mock.ts"
import { createModels, type ModelEntry } from "../llm/models.ts"
import { createUpstream, type Upstream, type UpstreamSpec } from "../llm/named-upstream.ts"
import { createRouter, type Router } from "../llm/router.ts"
import { createTokenEstimator } from "../llm/tokens.ts"
import { createUnsupportedMemory } from "../llm/unsupported.ts"
import type { Spend } from "../spend/spend.ts"

type Llm = Config["llm"]

export interface ModelParts {
  config: Config
  clock: Clock
  log: Log
  spend: Pick<Spend, "spentSince">
  zone: Pick<TimeZone, "name">
  mock?: MockOptions | undefined
  /** What the token estimator learned before. */
  ratios?: Record<string, number>
}

export function createModelRouter(parts: ModelParts): Router {
  const { config, clock, log, spend, zone } = parts
  const { llm, budget } = config
  const { general, fastest, smartest, fallback } = llm.model
  const upstream = (spec: Omit<UpstreamSpec, "options">, connection: Connection): Upstream =>
    createUpstream(
      { ...spec, options: connectionOptions(llm, connection, clock) },
      { clock, sleep, random, ...(parts.mock && { mock: parts.mock }) },
    )
  const { allow_unpriced, ...caps } = budget
  return createRouter({
    models: createModels({
      entries: llm.models.map(asEntry),
      roles: {
        ...{ general, fallback },
        ...defined({ fastest, smartest, summary: llm.summary_model }),
      },
      main: upstream({ name: "main", provider: llm.provider, wire: llm.wire }, llm),
      upstreams: Object.fromEntries(
        Object.entries(llm.providers).map(([name, connection]) => {
          const { provider, wire } = connection
          const defaults = defaultsOf(connection)
          return [name, upstream({ name, provider, wire, defaults }, connection)]
        }),
      ),
    }),
    tokens: createTokenEstimator(parts.ratios ?? {}),
    policy: {
      attempts: llm.retry.attempts,
      budgetMs: llm.retry.budget,
      firstDelayMs: llm.retry.first_delay,
      maxDelayMs: llm.retry.max_delay,
    },
    unsupported: createUnsupportedMemory(),
    budget: createBudget({
      caps: defined(caps),
      allowUnpriced: allow_unpriced,
      spent: (scope, id) => {
        if (scope === "day" || scope === "month") return spend.spentSince(scope, zone.name())
        return scope === "chat" && id ? spend.spentSince({ chat: id }, zone.name()) : 0
      },
    }),
    ...{ log, clock, sleep, random },
  })
}

/** True, or a sentence that names the nearest model. */
export function knownModel(models: Router["models"], name: string): true | string {
  try {
    models.resolve(name)
    return true
  } catch (error) {
    return errorText(error)
  }
}

type Connection = Pick<Llm, "api_key" | "base_url" | "proxy">

const connectionOptions = (llm: Llm, connection: Connection, clock: Clock) => ({
  ...defined({
    apiKey: connection.api_key,
    baseUrl: connection.base_url,
    proxy: connection.proxy,
  }),
  structuredOutput: llm.structured_output,
  firstTokenTimeoutMs: llm.first_token_timeout,
  silenceTimeoutMs: llm.silence_timeout,
  clock,
})

const defaultsOf = ({ temperature, reasoning, prompt_cache }: Llm["providers"][string]) =>
  defined({ temperature, effort: reasoning, cacheTtl: prompt_cache })

function asEntry(model: Llm["models"][number]): ModelEntry {
  const { name, description, jailbreak, effort } = model
  const { price_in, price_out, price_cache_read, price_cache_write } = model
  const prices = price_in !== undefined &&
    price_out !== undefined && {
      prices: {
        in: price_in,
        out: price_out,
        ...defined({ cacheRead: price_cache_read, cacheWrite: price_cache_write }),
      },
    }
  return {
    name,
    multimodal: model.multimodal ?? false,
    imageOutput: model.image_output ?? false,
    ...defined({ description, jailbreak, effort, upstream: model.provider }),
    ...defined({ contextWindow: model.context_window, maxOutput: model.max_output }),
    ...prices,
  }
}

/** The fields that have a value: an optional setting is absent, never undefined. */
const defined = <T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }
