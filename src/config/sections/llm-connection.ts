/** The fields that connect to one upstream: those of the main provider and of each named one. */
import { Type } from "@sinclair/typebox"
import { choice, decimal, effort, secret, textOf } from "../field.ts"

export const PROVIDERS = ["anthropic", "openai", "mock", "venice"] as const
export type ProviderKind = (typeof PROVIDERS)[number]

export const CACHE_TTLS = ["5m", "1h"] as const

const apiKey = Type.Optional(
  secret(
    "The key of the upstream; better kept in a file of its own, merged by a second --config.",
    {
      example: "sk-...",
      unset:
        "taken from ANTHROPIC_API_KEY, OPENAI_API_KEY, OPENROUTER_API_KEY or VENICE_API_KEY when the calls go to that very host",
    },
  ),
)

const baseUrl = Type.Optional(
  textOf("url", "Where the upstream answers: any server that speaks the same wire.", {
    example: "https://openrouter.ai/api/v1",
    unset: "the provider's own address",
  }),
)

const proxy = Type.Optional(
  textOf("url", "HTTP proxy for the traffic to this upstream and for nothing else.", {
    example: "http://127.0.0.1:3128",
    unset: "no proxy",
  }),
)

const WIRES = ["chat", "responses"] as const
const wireText =
  "Which API of an openai upstream is spoken: Chat Completions, or Responses where a model needs it for tools."
const reasoningText =
  "How hard models think when nothing nearer says otherwise; true reads as mid, false as off."
const temperatureText = "Sampling temperature; some models refuse any value."
const cacheText = "How long the provider keeps the marked prefix of a prompt."

/** Of the main provider, directly in `llm`. */
export const mainConnection = {
  provider: choice(
    "The wire of the main upstream; mock needs no key, venice only draws and is a named upstream.",
    PROVIDERS,
    { example: "anthropic" },
  ),
  wire: choice(wireText, WIRES, { default: "chat" }),
  api_key: apiKey,
  base_url: baseUrl,
  proxy,
  temperature: Type.Optional(
    decimal(temperatureText, { maximum: 2, example: 0.7, unset: "the model's own" }),
  ),
  reasoning: effort(reasoningText, { default: "off" }),
  prompt_cache: Type.Optional(
    choice(cacheText, CACHE_TTLS, { example: "5m", unset: "no cache markers are sent" }),
  ),
}

/** Of an entry of `llm.providers`. Key, address and proxy are never shared between upstreams. */
export const Upstream = Type.Object(
  {
    provider: choice("The wire of this upstream.", PROVIDERS, { example: "openai" }),
    wire: choice(wireText, WIRES, { default: "chat" }),
    api_key: apiKey,
    base_url: baseUrl,
    proxy,
    temperature: Type.Optional(
      decimal(temperatureText, { maximum: 2, example: 0.7, unset: "llm.temperature" }),
    ),
    reasoning: Type.Optional(effort(reasoningText, { example: "low", unset: "llm.reasoning" })),
    prompt_cache: Type.Optional(
      choice(cacheText, CACHE_TTLS, { example: "5m", unset: "llm.prompt_cache" }),
    ),
  },
  { description: "A further upstream that models[].provider may name." },
)
