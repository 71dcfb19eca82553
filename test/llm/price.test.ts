import { expect, test } from "bun:test"
import { costOf, priced, reasoningCost, worstCase } from "../../src/llm/price.ts"
import { emptyUsage } from "../../src/schema/usage.ts"

const usage = {
  ...emptyUsage(),
  prompt_tokens: 1_000_000,
  completion_tokens: 100_000,
  reasoning_tokens: 60_000,
  cached_tokens: 600_000,
  cache_write_tokens: 300_000,
}
const prices = { in: 3, out: 15, cacheRead: 0.3, cacheWrite: 3.75 }

test("cached and cache-written tokens are parts of the prompt, each at its own price", () => {
  expect(costOf(usage, prices)).toBeCloseTo(0.1 * 3 + 0.6 * 0.3 + 0.3 * 3.75 + 0.1 * 15)
  expect(costOf(usage, { in: 3, out: 15 })).toBeCloseTo(3 + 1.5)
  expect(costOf(usage, undefined)).toBeNull()
})

test("LLM-026: thinking is a part of the output: it adds nothing to the cost", () => {
  expect(costOf({ ...usage, reasoning_tokens: 0 }, prices)).toBe(costOf(usage, prices))
  expect(reasoningCost(usage, 15)).toBeCloseTo(0.9)
  expect(reasoningCost({ ...usage, reasoning_tokens: 200_000 }, 15)).toBeCloseTo(1.5)
})

test("a cost that the provider reported stays", () => {
  expect(priced({ ...usage, cost: 0.5 }, prices).cost).toBe(0.5)
  expect(priced(usage, prices).cost).toBeCloseTo(3.105)
})

test("the worst case counts nothing as cached and every allowed token as said", () => {
  const trip = { promptTokens: 1_000_000, maxOutputTokens: 10_000, writesCache: true }
  expect(worstCase(trip, prices)).toBeCloseTo(3.75 + 0.15)
  expect(worstCase({ ...trip, writesCache: false }, prices)).toBeCloseTo(3 + 0.15)
  expect(worstCase(trip, undefined)).toBeNull()
})
