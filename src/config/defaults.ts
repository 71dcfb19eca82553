/** The configuration of a kernel that was given none: it starts with what it finds. */
import { join } from "node:path"
import type { Environment } from "../lib/environment.ts"
import { isObject } from "../lib/json.ts"
import { buildConfig, type LoadedConfig } from "./build.ts"
import { HOSTED_UPSTREAMS, type HostedUpstream, LOCAL_UPSTREAMS } from "./default-upstreams.ts"
import { mergeSources, type Source, type Tree } from "./merge.ts"
import { environmentSources } from "./overlay.ts"
import type { Probe } from "./probe.ts"
import { Config } from "./schema.ts"

export interface DefaultOptions {
  environment: Environment
  /** Database, pictures and `tools.d` live here. */
  dataDir: string
  /** Relative paths in environment variables start here. */
  cwd: string
  probe: Probe
}

export interface DefaultConfig extends LoadedConfig {
  /** Whom the kernel will talk to, for people: `Anthropic`, `Ollama`, `mock`. */
  provider: string
  /** Why this one was taken. */
  why: string
}

interface Choice {
  provider: string
  why: string
  llm: Tree
}

/**
 * Environment variables `EVA_…__…` lie over the defaults. Throws KernelError("config") when they do not fit.
 */
export async function defaultConfig(options: DefaultOptions): Promise<DefaultConfig> {
  const { environment, dataDir, cwd } = options
  const overlay = await environmentSources({ environment, cwd, schema: Config, tree: {} })
  const written = mergeSources(overlay).tree
  const { provider, why, llm } = await chooseUpstream(options, written.llm)
  const defaults: Source = {
    name: "built-in defaults",
    directory: dataDir,
    tree: {
      server: {},
      db: { path: join(dataDir, "eva.db") },
      llm: listNamedModels(llm, written.llm),
    },
  }
  const built = buildConfig({ sources: [defaults, ...overlay], environment, directory: dataDir })
  return { ...built, provider, why }
}

async function chooseUpstream(
  { environment, probe }: DefaultOptions,
  written: unknown,
): Promise<Choice> {
  if (isObject(written) && written.provider !== undefined) {
    return chosenByVariable(written, "EVA_LLM__PROVIDER is set")
  }
  if (isObject(written) && written.base_url !== undefined) {
    return chosenByVariable({ provider: "openai", ...written }, "EVA_LLM__BASE_URL is set")
  }
  const hosted = HOSTED_UPSTREAMS.find(({ variable }) => environment[variable])
  if (hosted) {
    return { provider: hosted.name, why: `${hosted.variable} is set`, llm: hostedTree(hosted) }
  }
  return (
    (await findLocal(probe)) ?? mockChoice("no API key is set and no local model server answers")
  )
}

/** A variable decides; the usual model is taken unless the calls go to an address of their own. */
function chosenByVariable(written: Tree, why: string): Choice {
  const wish = String(written.provider)
  if (wish === "mock") return mockChoice(why)
  const own = written.base_url !== undefined
  const hosted = HOSTED_UPSTREAMS.find(({ llm }) => llm.provider === wish && !llm.base_url)
  return { provider: wish, why, llm: hosted && !own ? hostedTree(hosted) : { provider: wish } }
}

async function findLocal(probe: Probe): Promise<Choice | undefined> {
  const models = await Promise.all(LOCAL_UPSTREAMS.map(({ baseUrl }) => probe(baseUrl)))
  const found = models.findIndex((model) => model !== undefined)
  const upstream = LOCAL_UPSTREAMS[found]
  if (!upstream) return undefined
  const name = models[found]!
  return {
    provider: upstream.name,
    why: `it answers at ${upstream.baseUrl} with ${name}`,
    llm: {
      provider: "openai",
      base_url: upstream.baseUrl,
      model: { general: name },
      // It runs on this machine: no call costs anything.
      models: [{ name, price_in: 0, price_out: 0 }],
    },
  }
}

const mockChoice = (why: string): Choice => ({
  provider: "mock",
  why,
  llm: { provider: "mock", model: { general: "mock" }, models: [{ name: "mock" }] },
})

const hostedTree = ({ llm, model }: HostedUpstream): Tree => ({
  ...llm,
  model: { general: model.name },
  models: [model],
})

/** Models that variables name without listing them are listed: nobody writes EVA_LLM__MODELS by hand. */
function listNamedModels(llm: Tree, written: unknown): Tree {
  if (!isObject(written) || written.models !== undefined) return llm
  const roles = isObject(written.model) ? written.model : {}
  const names = [
    ...[roles.general, roles.fastest, roles.smartest, roles.advisor, roles.fallback].flat(),
    written.code_model,
    written.summary_model,
  ].filter((name) => typeof name === "string")
  const listed = (llm.models ?? []) as { name: string }[]
  const fresh = [...new Set(names)].filter((name) => !listed.some((model) => model.name === name))
  return { ...llm, models: [...listed, ...fresh.map((name) => ({ name }))] }
}
