/** The usage of Chat Completions in all its dialects, into one shape. Pure. */
import { isObject } from "../lib/json.ts"
import type { Usage } from "../schema/usage.ts"

/** A tick of xAI is a ten-billionth of a dollar. */
const XAI_TICKS_PER_USD = 1e10

/** Undefined when nothing usable was reported: zeros for a prompt that was not empty count as nothing. */
export function readChatUsage(raw: unknown): Usage | undefined {
  if (!isObject(raw)) return undefined
  const prompt = count(raw.prompt_tokens)
  const completion = count(raw.completion_tokens)
  if (prompt === 0) return undefined
  const promptDetails = isObject(raw.prompt_tokens_details) ? raw.prompt_tokens_details : {}
  const outputDetails = isObject(raw.completion_tokens_details) ? raw.completion_tokens_details : {}
  // Copilot reports thinking beside the counts (codecompanion/copilot_tools_streaming_reasoning), xAI in details.
  const reasoning = count(outputDetails.reasoning_tokens ?? raw.reasoning_tokens)
  // Both count it on top of the answer, and only the total shows it: vercel-ai/xai-text.
  const apart = reasoning > 0 && count(raw.total_tokens) === prompt + completion + reasoning
  return {
    prompt_tokens: prompt,
    completion_tokens: completion + (apart ? reasoning : 0),
    reasoning_tokens: reasoning,
    // DeepSeek: vercel-ai/deepseek-text. Together: opencode/openai-compatible-chat/togetherai-streams-text.
    cached_tokens: count(
      promptDetails.cached_tokens ?? raw.prompt_cache_hit_tokens ?? raw.cached_tokens,
    ),
    cache_write_tokens: count(promptDetails.cache_write_tokens),
    cost: readCost(raw),
  }
}

/** The last chunk of a llama.cpp server bears `timings`, with or without a usage. */
export function readTimings(raw: unknown): Usage | undefined {
  if (!isObject(raw)) return undefined
  const cached = count(raw.cache_n)
  const prompt = count(raw.prompt_n) + cached
  if (prompt === 0) return undefined
  return {
    prompt_tokens: prompt,
    completion_tokens: count(raw.predicted_n),
    reasoning_tokens: 0,
    cached_tokens: cached,
    cache_write_tokens: 0,
    cost: null,
  }
}

/** OpenRouter reports dollars (…/openrouter-gpt-4o-mini-drives-a-tool-loop), xAI ticks (vercel-ai/xai-text). */
function readCost(raw: Record<string, unknown>): number | null {
  if (typeof raw.cost === "number") return raw.cost
  if (typeof raw.cost_in_usd_ticks === "number") return raw.cost_in_usd_ticks / XAI_TICKS_PER_USD
  return null
}

const count = (value: unknown): number =>
  typeof value === "number" && Number.isFinite(value) ? Math.max(0, Math.round(value)) : 0
