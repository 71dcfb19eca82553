import { expect, test } from "bun:test"
import { createTokenEstimator, IMAGE_TOKENS } from "../../src/llm/tokens.ts"
import { emptyUsage } from "../../src/schema/usage.ts"
import { request, user } from "./requests.ts"

const asked = request("words of it ".repeat(1000))
const size = createTokenEstimator().request("m", asked)
const usage = (tokens: number) => ({ ...emptyUsage(), prompt_tokens: tokens })

test("LLM-028 CTX-36: the estimate follows true usage per model by a moving average that starts at 4 bytes a token", () => {
  const tokens = createTokenEstimator()
  const json = [asked.messages, asked.system, ...asked.tools].map((part) => JSON.stringify(part))
  expect(size).toBeCloseTo(Buffer.byteLength(json.join("")) / 4.2, -1)
  tokens.calibrate("m", asked, usage(size * 1.6))
  expect(tokens.ratios().m).toBeCloseTo(4 * 0.5 + 2.5 * 0.5, 2)
  expect(tokens.request("m", asked)).toBeCloseTo((size * 4) / 3.25, -1)
  expect(tokens.request("other", asked)).toBe(size)
  for (let call = 0; call < 10; call++) tokens.calibrate("m", asked, usage(size * 1.6))
  expect(tokens.request("m", asked) / (size * 1.6)).toBeCloseTo(1, 1)
})

test("scripts weigh what tokenizers spend on them: Cyrillic and Chinese are no English with longer letters", () => {
  const tokens = createTokenEstimator()
  const russian = "Солнце взошло над тихим городом. ".repeat(200)
  const chinese = "太阳从安静的城市上空升起。".repeat(200)
  const english = "The sun rose over the quiet town. ".repeat(200)
  const of = (model: string, text: string): number =>
    Buffer.byteLength(text) / tokens.text(model, text)
  expect(of("openai/gpt-5", english)).toBeCloseTo(4.25, 1)
  expect(of("openai/gpt-5", russian)).toBeGreaterThan(5.5)
  expect(of("gpt-4", russian)).toBeLessThan(4)
  expect(of("claude-opus", chinese)).toBeCloseTo(2.8, 1)
  // A sample of a long text tells the same as the whole.
  const mixed = (russian + english).repeat(20)
  const apart = 20 * (tokens.text("m", russian) + tokens.text("m", english))
  expect(tokens.text("m", mixed) / apart).toBeCloseTo(1, 1)
})

test("the ratio stays within 2 and 6 whatever a provider counts, and survives a restart", () => {
  const tokens = createTokenEstimator()
  for (let step = 0; step < 100; step++) tokens.calibrate("low", asked, usage(size * 10))
  for (let step = 0; step < 100; step++) tokens.calibrate("high", asked, usage(size / 10))
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
