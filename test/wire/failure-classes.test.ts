/** What an upstream's words mean: one line a case, with the text as that upstream sends it. */
import { describe, expect, test } from "bun:test"
import { thrownFailure, upstreamFailure } from "../../src/llm/failure.ts"
import { isOverflow, OVERFLOW_WORDINGS } from "../../src/llm/overflow.ts"
import type { FailureClass } from "../../src/llm/provider.ts"
import { readRateLimits } from "../../src/llm/rate-limits.ts"
import { readErrorBody, readErrorValue } from "../../src/llm/upstream-error.ts"

const NOW = Date.UTC(2026, 0, 1)

const classOf = (status: number, body: unknown): FailureClass =>
  upstreamFailure(readErrorBody(typeof body === "string" ? body : JSON.stringify(body), status), {
    now: NOW,
  }).class

const openai = (message: string, code: string | null = null, type = "invalid_request_error") => ({
  error: { message, type, param: null, code },
})
const anthropic = (type: string, message: string) => ({ type: "error", error: { type, message } })

const CASES: [FailureClass, number, unknown][] = [
  ["transient", 500, openai("The server had an error", null, "server_error")],
  ["transient", 502, "<html><body><h1>502 Bad Gateway</h1></body></html>"],
  ["transient", 503, ""],
  ["transient", 529, anthropic("overloaded_error", "Overloaded")],
  ["transient", 408, ""],
  ["transient", 409, anthropic("conflict_error", "conflict")],
  [
    "transient",
    429,
    openai("Rate limit reached for gpt-5 on tokens per min (TPM)", "rate_limit_exceeded"),
  ],
  ["transient", 429, anthropic("rate_limit_error", "This request would exceed your rate limit")],
  [
    "transient",
    429,
    openai(
      "You exceeded your current quota, please check your plan and billing. Please retry in 34.07s.",
    ),
  ],
  ["overflow", 413, anthropic("request_too_large", "Request exceeds the maximum size")],
  ["overflow", 400, openai("too long", "context_length_exceeded")],
  ["overflow", 500, openai("the request exceeds the available context size (4096 tokens)")],
  [
    "model",
    429,
    openai("You exceeded your current quota, please check your plan", "insufficient_quota"),
  ],
  ["model", 402, openai("This request requires more credits, or fewer max_tokens")],
  [
    "model",
    400,
    anthropic("invalid_request_error", "Your credit balance is too low to access the API"),
  ],
  [
    "model",
    404,
    openai("The model `gpt-9` does not exist or you do not have access", "model_not_found"),
  ],
  ["model", 404, anthropic("not_found_error", "model: claude-0")],
  ["model", 403, openai("Project does not have access to model `o9`", "model_not_found")],
  ["model", 400, openai("The model `x` has been decommissioned and is no longer supported")],
  ["model", 400, { error: '"tiny" does not support tools' }],
  ["model", 302, ""],
  ["auth", 401, openai("Incorrect API key provided", "invalid_api_key")],
  ["auth", 403, anthropic("permission_error", "Your key has no permission")],
  ["refused", 400, openai("The response was filtered", "content_filter")],
  [
    "refused",
    400,
    anthropic("invalid_request_error", "Output blocked by content filtering policy"),
  ],
  ["refused", 403, openai("Your input was flagged by moderation")],
  ["fatal", 400, openai("Invalid 'messages[0]': expected an object")],
  ["fatal", 422, { detail: [{ loc: ["body"], msg: "field required" }] }],
  ["fatal", 400, openai("max_tokens must be less than 8192")],
]

describe("classes of failure", () => {
  for (const [expected, status, body] of CASES) {
    const words = typeof body === "string" ? body : JSON.stringify(body)
    test(`${status} ${words.slice(0, 90)} is ${expected}`, () => {
      expect(classOf(status, body)).toBe(expected)
    })
  }

  test("a limit on spending is never taken for an overflow", () => {
    const failure = classOf(
      429,
      openai("Spending limit reached: maximum context length of your plan"),
    )
    expect(failure).toBe("model")
    expect(classOf(429, openai("Rate limit: reduce the length of the messages"))).toBe("transient")
  })

  test("inside a stream, without a status, only a telling word is not transient", () => {
    const inStream = (value: unknown) => upstreamFailure(readErrorValue(value), { now: NOW }).class
    expect(inStream({ error: { message: "hiccup", type: "invalid_request_error" } })).toBe(
      "transient",
    )
    expect(inStream({ error: { message: "bad request", code: 400 } })).toBe("fatal")
    expect(inStream({ error: { message: "Overloaded", type: "overloaded_error" } })).toBe(
      "transient",
    )
    expect(inStream({ error: { message: "prompt is too long: 2 tokens > 1 maximum" } })).toBe(
      "overflow",
    )
  })
})

describe("overflow wordings", () => {
  for (const { upstream, pattern, sample } of OVERFLOW_WORDINGS) {
    test(`${upstream}`, () => {
      expect(sample).toMatch(pattern)
      expect(isOverflow([], sample)).toBe(true)
    })
  }

  test("what is no overflow", () => {
    for (const text of [
      "temperature must be <= 2",
      "max_tokens must be less than 8192",
      "tool_calls[0].name exceeds the limit of 64 characters",
      "too many requests",
    ]) {
      expect({ text, overflow: isOverflow([], text) }).toEqual({ text, overflow: false })
    }
  })
})

describe("the error's own words", () => {
  test("the provider behind a gateway has the last word", () => {
    const raw = JSON.stringify({ error: { message: "Invalid model name", type: "invalid" } })
    const body = { error: { message: "Provider returned error", code: 400, metadata: { raw } } }
    expect(readErrorBody(JSON.stringify(body), 400).message).toBe(
      "Provider returned error: Invalid model name",
    )
  })

  test("LLM-007: of nested errors the innermost cause is told", () => {
    const reset = Object.assign(new Error("socket hang up"), { code: "ECONNRESET" })
    const thrown = new Error("Connection error.", {
      cause: new TypeError("fetch failed", { cause: reset }),
    })
    expect(thrownFailure(thrown, NOW)).toEqual({
      class: "transient",
      message: "the connection broke: ECONNRESET: socket hang up",
    })
    expect(thrownFailure(new AggregateError([reset], "all failed"), NOW).message).toContain(
      "ECONNRESET",
    )
  })
})

describe("limits in headers", () => {
  test("LLM-024: the windows of both naming schemes are read", () => {
    const anthropicHeaders = new Headers({
      "anthropic-ratelimit-requests-limit": "50",
      "anthropic-ratelimit-requests-remaining": "49",
      "anthropic-ratelimit-requests-reset": "2026-01-01T00:00:30Z",
      "anthropic-ratelimit-input-tokens-limit": "20000",
      "retry-after": "3",
    })
    expect(readRateLimits(anthropicHeaders, NOW)).toEqual([
      { name: "input_tokens", limit: 20_000 },
      { name: "requests", limit: 50, remaining: 49, reset_at: "2026-01-01T00:00:30.000Z" },
    ])
    const openaiHeaders = new Headers({
      "x-ratelimit-limit-tokens": "1000",
      "x-ratelimit-remaining-tokens": "0",
      "x-ratelimit-reset-tokens": "6m0.5s",
      "x-ratelimit-limit-requests": "10",
      "x-ratelimit-reset-requests": "12ms",
    })
    expect(readRateLimits(openaiHeaders, NOW)).toEqual([
      { name: "requests", limit: 10, reset_at: "2026-01-01T00:00:00.012Z" },
      { name: "tokens", limit: 1000, remaining: 0, reset_at: "2026-01-01T00:06:00.500Z" },
    ])
    const openrouter = new Headers({
      "x-ratelimit-limit": "20",
      "x-ratelimit-reset": String(NOW + 5000),
    })
    expect(readRateLimits(openrouter, NOW)).toEqual([
      { name: "requests", limit: 20, reset_at: "2026-01-01T00:00:05.000Z" },
    ])
  })

  test("the wish to wait is read wherever it stands", () => {
    const wait = (headers: Record<string, string>, message = "slow down") =>
      upstreamFailure({ message, status: 429 }, { now: NOW, headers: new Headers(headers) })
        .retryAfterMs
    expect(wait({ "retry-after": "2" })).toBe(2000)
    expect(wait({ "retry-after-ms": "150", "retry-after": "2" })).toBe(150)
    expect(wait({ "retry-after": new Date(NOW + 7000).toUTCString() })).toBe(7000)
    expect(wait({ "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "1m2s" })).toBe(
      62_000,
    )
    expect(
      wait({
        "anthropic-ratelimit-tokens-remaining": "0",
        "anthropic-ratelimit-tokens-reset": "2026-01-01T00:00:09Z",
      }),
    ).toBe(9000)
    expect(wait({}, "Please try again in 6.5s.")).toBe(6500)
    expect(
      wait({ "x-ratelimit-remaining-tokens": "5", "x-ratelimit-reset-tokens": "1s" }),
    ).toBeUndefined()
    expect(wait({ "retry-after": "soon" })).toBeUndefined()
  })
})
