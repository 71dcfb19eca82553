/** Settings that follow from other settings or from the environment when nobody wrote them. */
import type { Environment } from "../lib/environment.ts"
import type { Config } from "./schema.ts"

type Llm = Config["llm"]
type Connection = Pick<Llm, "provider" | "base_url" | "api_key">

const KEY_VARIABLES: readonly { variable: string; provider: string; host?: string }[] = [
  { variable: "ANTHROPIC_API_KEY", provider: "anthropic" },
  { variable: "OPENAI_API_KEY", provider: "openai" },
  { variable: "VENICE_API_KEY", provider: "venice" },
  { variable: "OPENROUTER_API_KEY", provider: "openai", host: "openrouter.ai" },
]

export function completeConfig(
  config: Config,
  environment: Environment,
): { config: Config; warnings: string[] } {
  const warnings: string[] = []
  const withKey = <T extends Connection>(connection: T, path: string): T => {
    const variable = keyVariable(connection)
    if (connection.api_key !== undefined || variable === undefined) return connection
    const value = environment[variable]
    if (value) return { ...connection, api_key: value }
    warnings.push(`${path}.api_key is not set, and neither is ${variable}: calls will be refused`)
    return connection
  }
  const main = withKey(config.llm, "llm")
  const providers = Object.fromEntries(
    Object.entries(main.providers).map(([name, upstream]) => [
      name,
      withKey(inheritManner(upstream, main), `llm.providers.${name}`),
    ]),
  )
  return { config: { ...config, llm: withImageModel({ ...main, providers }) }, warnings }
}

/** A key from the environment goes to the very host it was made for and to no other. */
function keyVariable({ provider, base_url }: Connection): string | undefined {
  const host = base_url === undefined ? undefined : URL.parse(base_url)?.hostname
  return KEY_VARIABLES.find((row) => row.provider === provider && row.host === host)?.variable
}

function inheritManner<T extends Llm["providers"][string]>(upstream: T, main: Llm): T {
  return {
    ...upstream,
    reasoning: upstream.reasoning ?? main.reasoning,
    ...definedOnly({
      temperature: upstream.temperature ?? main.temperature,
      prompt_cache: upstream.prompt_cache ?? main.prompt_cache,
    }),
  }
}

function withImageModel(llm: Llm): Llm {
  const image_model = llm.image_model ?? llm.models.find((model) => model.image_output)?.name
  return { ...llm, ...definedOnly({ image_model }) }
}

const definedOnly = <T extends object>(values: T): { [K in keyof T]?: NonNullable<T[K]> } =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: NonNullable<T[K]>
  }
