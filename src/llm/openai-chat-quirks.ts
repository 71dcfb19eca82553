/**
 * Where upstreams that say "OpenAI-compatible" differ in what they accept, one entry for each, found by the
 * host of `base_url`. What they differ in when they answer is in `openai-chat-decode.ts`.
 */
import type { Effort } from "../schema/effort.ts"

type Fields = Record<string, unknown>

export interface ChatQuirks {
  maxTokensField: "max_tokens" | "max_completion_tokens"
  /** Asks for this much thinking; `off` must be said aloud where the upstream thinks by default. */
  effort(effort: Effort, model: string): Fields
  /** Where the thoughts of this turn go back, beside the calls that grew out of them. */
  thoughtField?: "reasoning" | "reasoning_content"
  /** Takes `cache_control` on content parts, so content is always sent as parts. */
  cacheMarkers: boolean
  /** Refuses `stream_options`, and reports usage without being asked. */
  noStreamOptions?: boolean
  /** Takes a key by which requests of one chat reach the same cache. */
  cacheKeyField?: string
  /** Models that refuse a temperature. */
  fixedTemperature?: RegExp
  /** Ids of calls that this upstream accepts, when stricter than the rest. */
  callId?: (id: string) => string
  /** Fields that belong in every request. */
  always?: Fields
}

const LEVELS = { low: "low", mid: "medium", high: "high" } as const

/** Models of OpenAI that think; the others refuse `reasoning_effort`. */
export const OPENAI_THINKERS = /(?:^|\/)(?:o\d|gpt-[5-9]|gpt-oss|codex)/i

/** The least that a thinking model of OpenAI does: `none` since 5.1, `minimal` in 5, `low` in the o series. */
export function openAiEffort(effort: Effort, model: string): string | undefined {
  if (!OPENAI_THINKERS.test(model)) return undefined
  if (effort !== "off") return LEVELS[effort]
  if (/gpt-5(?!\.)/i.test(model)) return "minimal"
  return /gpt-[5-9]/i.test(model) ? "none" : "low"
}

const field = (name: string, value: unknown): Fields =>
  value === undefined ? {} : { [name]: value }
const thinkingSwitch = (effort: Effort): Fields => ({
  thinking: { type: effort === "off" ? "disabled" : "enabled" },
})
const gatewayEffort = (effort: Effort): Fields => ({
  reasoning: effort === "off" ? { enabled: false } : { effort: LEVELS[effort] },
})

/** A server that nobody described: the fields of the standard, and nothing about thinking unless it is wanted. */
const STANDARD: ChatQuirks = {
  maxTokensField: "max_tokens",
  effort: (effort) => (effort === "off" ? {} : { reasoning_effort: LEVELS[effort] }),
  // Gateways that pass thinking through read it; the others ignore a field they do not know.
  thoughtField: "reasoning",
  cacheMarkers: false,
}

const UPSTREAMS: readonly { host: RegExp; quirks: Partial<ChatQuirks> }[] = [
  {
    // Streams `reasoning` and `reasoning_details`: pydantic-ai/test_openrouter/test_openrouter_streaming_reasoning.
    host: /(?:^|\.)openrouter\.ai$/,
    quirks: { effort: gatewayEffort, cacheMarkers: true, always: { usage: { include: true } } },
  },
  { host: /(?:^|\.)nousresearch\.com$/, quirks: { effort: gatewayEffort, cacheMarkers: true } },
  {
    // Refuses fields that it does not know: opencode/openai-chat/drives-a-tool-loop-end-to-end.
    host: /(?:^|\.)(?:openai\.com|openai\.azure\.com|cognitiveservices\.azure\.com)$/,
    quirks: {
      maxTokensField: "max_completion_tokens",
      effort: (effort, model) => field("reasoning_effort", openAiEffort(effort, model)),
      thoughtField: undefined,
      cacheKeyField: "prompt_cache_key",
      fixedTemperature: OPENAI_THINKERS,
    },
  },
  {
    // Streams `reasoning_content`: vercel-ai/deepseek-tool-call. Wants it back within the turn.
    host: /(?:^|\.)deepseek\.com$/,
    quirks: { effort: thinkingSwitch, thoughtField: "reasoning_content" },
  },
  {
    host: /(?:^|\.)(?:z\.ai|bigmodel\.cn)$/,
    quirks: { effort: thinkingSwitch, thoughtField: "reasoning_content" },
  },
  {
    host: /(?:^|\.)moonshot\.(?:ai|cn)$/,
    quirks: {
      effort: (effort, model) => (/kimi-k(?:2\.|[3-9])/i.test(model) ? thinkingSwitch(effort) : {}),
      thoughtField: "reasoning_content",
    },
  },
  {
    // Ids only in the first delta, empty strings after: vercel-ai/alibaba-tool-call.
    host: /(?:^|\.)aliyuncs\.com$/,
    quirks: {
      effort: (effort) => ({ enable_thinking: effort !== "off" }),
      thoughtField: "reasoning_content",
    },
  },
  {
    // Counts thinking outside of completion_tokens: vercel-ai/xai-text. Only the small model takes an effort.
    host: /(?:^|\.)x\.ai$/,
    quirks: {
      effort: (effort, model) =>
        /grok-3-mini/i.test(model)
          ? { reasoning_effort: effort === "high" || effort === "mid" ? "high" : "low" }
          : {},
      thoughtField: "reasoning_content",
    },
  },
  {
    // Thinks under two names: pydantic-ai/test_groq/test_tool_use_failed_error_streaming (gpt-oss).
    host: /(?:^|\.)groq\.com$/,
    quirks: {
      maxTokensField: "max_completion_tokens",
      effort: (effort, model) => {
        if (/qwen3/i.test(model)) return { reasoning_effort: effort === "off" ? "none" : "default" }
        return field(
          "reasoning_effort",
          /gpt-oss/i.test(model) ? LEVELS[effort === "off" ? "low" : effort] : undefined,
        )
      },
    },
  },
  {
    // Usage without being asked, content as parts: vercel-ai/mistral-reasoning. Ids of calls are nine letters.
    host: /(?:^|\.)mistral\.ai$/,
    quirks: {
      effort: () => ({}),
      thoughtField: undefined,
      noStreamOptions: true,
      callId: nineLetters,
    },
  },
  {
    host: /(?:^|\.)googleapis\.com$/,
    quirks: {
      effort: (effort, model) => ({
        // Only the flash models of 2.5 can stop thinking altogether.
        reasoning_effort:
          effort === "off" ? (/2\.5-flash/i.test(model) ? "none" : "low") : LEVELS[effort],
      }),
      thoughtField: undefined,
    },
  },
]

/** Ollama has no host of its own, but a port. It thinks by default: codecompanion/ollama_tools_no_params_streaming. */
const OLLAMA: Partial<ChatQuirks> = {
  effort: (effort) => ({ reasoning_effort: effort === "off" ? "none" : LEVELS[effort] }),
}

/** The quirks of the upstream at this address. */
export function chatQuirks(baseUrl: string): ChatQuirks {
  const url = URL.parse(baseUrl)
  if (!url) return STANDARD
  if (url.port === "11434") return { ...STANDARD, ...OLLAMA }
  const found = UPSTREAMS.find(({ host }) => host.test(url.hostname))
  return { ...STANDARD, ...found?.quirks }
}

/** Nine letters and digits, the same for the same id. */
function nineLetters(id: string): string {
  if (/^[a-zA-Z0-9]{9}$/.test(id)) return id
  return Bun.hash(id).toString(36).padStart(9, "0").slice(-9)
}
