/** Who could answer: a provider with a key in the environment, a server on this machine, or the mock. */
import {
  HOSTED_UPSTREAMS,
  type HostedUpstream,
  MODEL_SERVERS,
} from "../../config/default-upstreams.ts"
import type { Tree } from "../../config/merge.ts"
import type { Environment } from "../../lib/environment.ts"
import { listModels, type ServedModel } from "./model-server.ts"

export interface Candidate {
  /** For people: `Anthropic`, `Ollama`, `mock`. */
  name: string
  /** How it was found, as a comment in the file says it. */
  why: string
  /** Section `llm` without its models. */
  llm: Tree
  /** An entry of `llm.models` each; the first is the one to take. */
  models: readonly [Tree & { name: string }, ...(Tree & { name: string })[]]
  apiKey?: string
  /** Where the window of the models is known from, when it is. */
  windowFrom?: string
}

export type ListModels = typeof listModels

export const MOCK: Candidate = {
  name: "mock",
  why: "answers without any model, to try everything else",
  llm: { provider: "mock" },
  models: [{ name: "mock" }],
}

/**
 * Providers with a key first, then the servers that answer, in the order of their tables. Whoever sets
 * EVA_LLM__PROVIDER to mock wants nothing else to be called.
 */
export async function findCandidates(
  environment: Environment,
  list: ListModels = listModels,
): Promise<Candidate[]> {
  if (environment.EVA_LLM__PROVIDER === "mock") {
    return [{ ...MOCK, why: "EVA_LLM__PROVIDER was set to it" }]
  }
  const hosted = HOSTED_UPSTREAMS.flatMap((upstream) => {
    const key = environment[upstream.variable]?.trim()
    return key ? [hostedCandidate(upstream, key, `${upstream.variable} was set`)] : []
  })
  const served = await Promise.all(
    MODEL_SERVERS.map(async ({ name, baseUrl }) =>
      serverCandidate({ name, baseUrl, models: (await list(baseUrl)) ?? [] }),
    ),
  )
  return [...hosted, ...served.filter((candidate) => candidate !== undefined)]
}

export const hostedCandidate = (
  { name, llm, model }: HostedUpstream,
  apiKey: string,
  why: string,
): Candidate => ({
  ...{ name, why, llm, apiKey },
  models: [model],
  windowFrom: `${name}'s page of models`,
})

/** Undefined for a server without a model that talks. */
export function serverCandidate({
  name,
  baseUrl,
  models,
  apiKey,
}: {
  name: string
  baseUrl: string
  models: readonly ServedModel[]
  apiKey?: string
}): Candidate | undefined {
  const free = isOnThisMachine(baseUrl)
  const entries = models.map((model) => ({
    name: model.name,
    // No call to a model of one's own costs anything.
    ...(free && { price_in: 0, price_out: 0 }),
    ...(model.contextWindow !== undefined && { context_window: model.contextWindow }),
  }))
  const [first, ...others] = entries
  if (!first) return undefined
  return {
    name,
    why: `it answered at ${baseUrl}`,
    llm: { provider: "openai", base_url: baseUrl },
    models: [first, ...others],
    ...(apiKey && { apiKey }),
    windowFrom: "the server",
  }
}

/** With this model in front. */
export function withModel(candidate: Candidate, name: string): Candidate {
  const chosen = candidate.models.find((model) => model.name === name) ?? { name }
  return { ...candidate, models: [chosen, ...candidate.models.filter((model) => model !== chosen)] }
}

const isOnThisMachine = (baseUrl: string): boolean =>
  /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(URL.parse(baseUrl)?.hostname ?? "")
