/** What differs between models on Anthropic's wire, by name: how they think and how much they may write. Pure. */
import type { Effort } from "../schema/effort.ts"
import type { AnthropicParams } from "./anthropic-client.ts"

/**
 * `adaptive`: the model weighs for itself, an effort steers it · `always`: so too, and it refuses to be
 * switched off · `budget`: before 4.6, a number of tokens.
 */
type ThinkingMode = "adaptive" | "always" | "budget"

const THINKING_MODES: readonly { model: RegExp; mode: ThinkingMode }[] = [
  { model: /claude-(?:fable|mythos)/, mode: "always" },
  {
    model: /claude-3-7|claude-(?:opus|sonnet|haiku)-4(?:-[015])?(?:-20\d{6})?(?:$|@|\[)/,
    mode: "budget",
  },
]

const OUTPUT_MAX_TOKENS: readonly { model: RegExp; tokens: number }[] = [
  { model: /claude-3-(?:opus|sonnet|haiku)/, tokens: 4096 },
  { model: /claude-3-5/, tokens: 8192 },
  { model: /claude-opus-4(?:-[01])?(?:-20\d{6})?(?:$|@)/, tokens: 32_000 },
  { model: /claude-/, tokens: 64_000 },
]
/** Others who speak this wire: DeepSeek, Moonshot, GLM, Ollama. */
const OTHER_OUTPUT_MAX_TOKENS = 32_000

const LEVELS = { low: "low", mid: "medium", high: "high" } as const
const BUDGETS: Record<Exclude<Effort, "off">, number> = { low: 2048, mid: 8192, high: 24_576 }
const BUDGET_MIN_TOKENS = 1024

export type ThinkingFields = Pick<AnthropicParams, "max_tokens" | "thinking" | "output_config">

/** The API demands a ceiling: the caller's, else the model's own. */
export const outputLimit = (model: string): number =>
  OUTPUT_MAX_TOKENS.find((entry) => entry.model.test(model))?.tokens ?? OTHER_OUTPUT_MAX_TOKENS

/** Models of Anthropic since 4.7 refuse a temperature; a thinking one refuses it in any case. */
export const takesTemperature = (model: string): boolean =>
  !/claude/.test(model) ||
  /claude-(?:3|(?:opus|sonnet|haiku)-4(?:-[0-6])?(?:-20\d{6})?(?:$|@|\[))/.test(model)

/**
 * The fields that ask for thinking, with the thought made visible. `off` is said aloud: a model that thinks by
 * default would think always.
 */
export function thinkingFields(model: string, effort: Effort, maxTokens?: number): ThinkingFields {
  const mode = THINKING_MODES.find((entry) => entry.model.test(model))?.mode ?? "adaptive"
  const ceiling = maxTokens ?? outputLimit(model)
  if (effort === "off" && mode !== "always") {
    return { max_tokens: ceiling, thinking: { type: "disabled" } }
  }
  if (mode === "budget") return budgetFields(effort === "off" ? "low" : effort, ceiling)
  return {
    max_tokens: ceiling,
    thinking: { type: "adaptive", display: "summarized" },
    output_config: { effort: effort === "off" ? "low" : LEVELS[effort] },
  }
}

/** The budget is a part of the ceiling and must leave room for the answer. */
function budgetFields(effort: Exclude<Effort, "off">, ceiling: number): ThinkingFields {
  const budget = Math.min(BUDGETS[effort], Math.floor(ceiling / 2))
  if (budget < BUDGET_MIN_TOKENS) return { max_tokens: ceiling, thinking: { type: "disabled" } }
  return { max_tokens: ceiling, thinking: { type: "enabled", budget_tokens: budget } }
}
