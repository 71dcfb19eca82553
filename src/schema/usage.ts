/** What a provider trip consumed. */
import { type Static, Type } from "@sinclair/typebox"

export const RateLimit = Type.Object({
  name: Type.String({ description: "What is limited: requests, tokens, input_tokens …" }),
  limit: Type.Optional(Type.Number()),
  remaining: Type.Optional(Type.Number()),
  reset_at: Type.Optional(Type.String({ description: "When the window is full again, ISO 8601" })),
})
export type RateLimit = Static<typeof RateLimit>

export const Usage = Type.Object({
  prompt_tokens: Type.Integer({ description: "All input tokens, cached ones included" }),
  completion_tokens: Type.Integer({ description: "All output tokens, thinking included" }),
  reasoning_tokens: Type.Integer({
    description: "The part of completion_tokens that was thinking",
  }),
  cached_tokens: Type.Integer({
    description: "The part of prompt_tokens read from the provider's cache",
  }),
  cache_write_tokens: Type.Integer({
    description: "The part of prompt_tokens written to that cache",
  }),
  cost: Type.Union([Type.Number(), Type.Null()], {
    description: "USD; null when no price is known",
  }),
  estimated: Type.Optional(
    Type.Boolean({ description: "The provider reported nothing usable; tokens are an estimate" }),
  ),
})
export type Usage = Static<typeof Usage>

export const emptyUsage = (): Usage => ({
  prompt_tokens: 0,
  completion_tokens: 0,
  reasoning_tokens: 0,
  cached_tokens: 0,
  cache_write_tokens: 0,
  cost: null,
})

/** One trip to a provider as it is booked. */
export interface PaidTrip {
  /** Absent for the kernel's own errands, such as sleep over all memories. */
  chatId?: string
  turnId?: string
  /** The run of a scheduled job that this trip belongs to. */
  runId?: string
  /** What asked: message, cron, notes, advisor, sleep:cluster … */
  source: string
  model: string
  usage: Usage
  /** USD of the thinking inside the answer; null without llm.models[].price_out. */
  reasoningCost: number | null
}
