/**
 * The upstreams that a kernel without configuration looks for, in order, with the model it takes there. Names
 * and prices are those of the providers' model pages as of November 2026.
 */
import type { ModelEntry } from "./sections/llm-models.ts"

export interface HostedUpstream {
  name: string
  /** The variable that holds the key. */
  variable: string
  /** Further fields of section `llm`. */
  llm: { provider: "anthropic" | "openai"; [field: string]: string }
  model: Partial<ModelEntry> & { name: string }
}

export const HOSTED_UPSTREAMS: readonly HostedUpstream[] = [
  {
    name: "Anthropic",
    variable: "ANTHROPIC_API_KEY",
    llm: { provider: "anthropic", prompt_cache: "5m" },
    model: {
      name: "claude-sonnet-5-5",
      multimodal: true,
      price_in: 2,
      price_out: 10,
      price_cache_read: 0.2,
      price_cache_write: 2.5,
      context_window: 1_000_000,
      max_output: 128_000,
    },
  },
  {
    name: "OpenRouter",
    variable: "OPENROUTER_API_KEY",
    llm: { provider: "openai", base_url: "https://openrouter.ai/api/v1", prompt_cache: "5m" },
    model: {
      name: "anthropic/claude-sonnet-5.5",
      multimodal: true,
      price_in: 2,
      price_out: 10,
      price_cache_read: 0.2,
      price_cache_write: 2.5,
      context_window: 1_000_000,
      max_output: 128_000,
    },
  },
  {
    name: "OpenAI",
    variable: "OPENAI_API_KEY",
    // These models take tools together with reasoning on the Responses API only, and refuse effort "none".
    llm: { provider: "openai", wire: "responses", reasoning: "low" },
    model: {
      name: "gpt-6.2-sol",
      multimodal: true,
      price_in: 2,
      price_out: 10,
      price_cache_read: 0.1,
      price_cache_write: 2.5,
      // The model holds 1,050,000; beyond this the provider doubles its prices.
      context_window: 272_000,
      max_output: 128_000,
    },
  },
]

export const LOCAL_UPSTREAMS: readonly { name: string; baseUrl: string }[] = [
  { name: "Ollama", baseUrl: "http://127.0.0.1:11434/v1" },
  { name: "llama-server", baseUrl: "http://127.0.0.1:8080/v1" },
]

/** Servers that `eva-kernel init` asks as well: it shows what it found before it takes one. */
export const MODEL_SERVERS: typeof LOCAL_UPSTREAMS = [
  ...LOCAL_UPSTREAMS,
  { name: "LM Studio", baseUrl: "http://127.0.0.1:1234/v1" },
  { name: "vLLM", baseUrl: "http://127.0.0.1:8000/v1" },
]
