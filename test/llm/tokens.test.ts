import { expect, test } from "bun:test"
import { createTokenEstimator, IMAGE_TOKENS } from "../../src/llm/tokens.ts"
import { emptyUsage } from "../../src/schema/usage.ts"
import { request, user } from "./requests.ts"

const bytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value))
const asked = request("слово ".repeat(2000))
const size = bytes(asked.messages) + bytes(asked.system) + bytes(asked.tools)
const usage = (tokens: number) => ({ ...emptyUsage(), prompt_tokens: tokens })

test("LLM-028 CTX-36: the estimate is JSON bytes over a ratio that starts at 4 and follows true usage per model", () => {
  const tokens = createTokenEstimator()
  expect(tokens.request("m", asked)).toBe(Math.ceil(size / 4))
  tokens.calibrate("m", asked, usage(size / 2.5))
  expect(tokens.ratios().m).toBeCloseTo(4 * 0.8 + 2.5 * 0.2)
  expect(tokens.request("m", asked)).toBe(Math.ceil(size / 3.7))
  expect(tokens.request("other", asked)).toBe(Math.ceil(size / 4))
})

test("the ratio stays within 2 and 6 whatever a provider counts, and survives a restart", () => {
  const tokens = createTokenEstimator()
  for (let step = 0; step < 100; step++) tokens.calibrate("low", asked, usage(size * 10))
  for (let step = 0; step < 100; step++) tokens.calibrate("high", asked, usage(size / 50))
  expect(tokens.ratios().low).toBeCloseTo(2)
  expect(tokens.ratios().high).toBeCloseTo(6)
  expect(createTokenEstimator(tokens.ratios()).request("low", asked)).toBe(
    tokens.request("low", asked),
  )
})

test("an estimated usage and a tiny request teach nothing", () => {
  const tokens = createTokenEstimator()
  tokens.calibrate("m", asked, { ...usage(size), estimated: true })
  tokens.calibrate("m", request("hi"), usage(30))
  expect(tokens.ratios()).toEqual({})
})

test("LLM-029 CTX-37: a picture costs a fixed price, not its bytes", () => {
  const tokens = createTokenEstimator()
  const picture = user("look", { type: "image", id: "i1", media_type: "image/png" })
  const data = { mediaType: "image/png", base64: "A".repeat(4_000_000) }
  const without = tokens.messages("m", [picture], new Map())
  expect(tokens.messages("m", [picture], new Map([["i1", data]]))).toBe(without + IMAGE_TOKENS)
  expect(IMAGE_TOKENS).toBe(1500)
})
