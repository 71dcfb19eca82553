/** Money: what a provider trip cost and what it may cost at most. Prices are USD per million tokens. */
import type { Usage } from "../schema/usage.ts"

const MILLION = 1_000_000

export interface Prices {
  in: number
  out: number
  /** Of input read from the provider's cache; absent: the price of plain input. */
  cacheRead?: number
  /** Of input written to that cache; absent: the price of plain input. */
  cacheWrite?: number
}

/** USD of a trip, or null without prices. Cached and cache-written tokens are parts of the prompt. */
export function costOf(usage: Usage, prices: Prices | undefined): number | null {
  if (!prices) return null
  const plain = Math.max(0, usage.prompt_tokens - usage.cached_tokens - usage.cache_write_tokens)
  const total =
    plain * prices.in +
    usage.cached_tokens * (prices.cacheRead ?? prices.in) +
    usage.cache_write_tokens * (prices.cacheWrite ?? prices.in) +
    usage.completion_tokens * prices.out
  return total / MILLION
}

/** USD of the thinking inside the output: a share of `costOf`, never an addition to it. */
export function reasoningCost(usage: Usage, priceOut: number): number {
  return (Math.min(usage.reasoning_tokens, usage.completion_tokens) * priceOut) / MILLION
}

/** The usage with its cost: the provider's own figure, else the one that the prices give. */
export function priced(usage: Usage, prices: Prices | undefined): Usage {
  return usage.cost === null ? { ...usage, cost: costOf(usage, prices) } : usage
}

/** USD that a trip cannot exceed, or null without prices: nothing cached, every allowed token said. */
export function worstCase(
  trip: { promptTokens: number; maxOutputTokens: number; writesCache: boolean },
  prices: Prices | undefined,
): number | null {
  if (!prices) return null
  const input = trip.writesCache ? Math.max(prices.in, prices.cacheWrite ?? 0) : prices.in
  return (trip.promptTokens * input + trip.maxOutputTokens * prices.out) / MILLION
}
