/** Oddities of upstreams that no recording shows, through the real providers. */
import { afterEach, describe, expect, test } from "bun:test"
import type { ModelRequest } from "../../src/llm/provider.ts"
import type { UpstreamOptions } from "../../src/llm/upstream.ts"
import {
  collect,
  createWire,
  fold,
  never,
  type Protocol,
  REQUEST,
  serve,
  sse,
  type Upstream,
} from "./support.ts"

const upstreams: Upstream[] = []
afterEach(async () => {
  for (const upstream of upstreams.splice(0)) await upstream.stop()
})

function answering(answer: () => Response): Upstream {
  const upstream = serve(answer)
  upstreams.push(upstream)
  return upstream
}

interface Run {
  headers?: Record<string, string>
  request?: Partial<ModelRequest>
  options?: Partial<UpstreamOptions>
}

/** The events of an answer that consists of these frames. */
async function run(
  protocol: Protocol,
  frames: readonly unknown[],
  { headers, request, options }: Run = {},
) {
  const body = frames
    .map((frame) => `data: ${typeof frame === "string" ? frame : JSON.stringify(frame)}\n\n`)
    .join("")
  const upstream = answering(() => sse(body, headers))
  const provider = createWire(protocol, { baseUrl: `${upstream.url}/v1`, ...options })
  return collect(provider.stream({ ...REQUEST, ...request }, never()))
}

const delta = (fields: object, finish: string | null = null) => ({
  choices: [{ index: 0, delta: fields, finish_reason: finish }],
})
const call = (fields: object) => delta({ tool_calls: [fields] })
const STOP = delta({}, "tool_calls")

describe("calls of chat completions", () => {
  const joined = { name: "find", args: { q: "abc" } }

  test("L022: an id in the first delta only, then twelve fragments by index: one call", async () => {
    const fragments = [...'{"q": "abc"}'].map((part) =>
      call({ index: 0, function: { arguments: part } }),
    )
    expect(fragments).toHaveLength(12)
    const first = call({ index: 0, id: "c1", function: { name: "find", arguments: "" } })
    const { calls, stop } = fold(await run("openai-chat", [first, ...fragments, STOP]))
    expect(calls).toEqual([{ id: "c1", ...joined }])
    expect(stop).toBe("tools")
  })

  test("L023: an upstream that never gives ids gets made ones", async () => {
    const frames = [
      call({ index: 0, function: { name: "find", arguments: '{"q": "abc"}' } }),
      call({ index: 1, function: { name: "list", arguments: "{}" } }),
      STOP,
    ]
    expect(fold(await run("openai-chat", frames)).calls).toEqual([
      { id: "made_1", ...joined },
      { id: "made_2", name: "list", args: {} },
    ])
  })

  test("no index: a name opens a call, a bare fragment never does", async () => {
    const frames = [
      call({ id: "a", function: { name: "find", arguments: '{"q": ' } }),
      call({ function: { arguments: '"abc"}' } }),
      call({ id: "b", function: { name: "list", arguments: "{" } }),
      call({ id: "b", function: { arguments: "}" } }),
      STOP,
    ]
    expect(fold(await run("openai-chat", frames)).calls).toEqual([
      { id: "a", ...joined },
      { id: "b", name: "list", args: {} },
    ])
  })

  test("one index for every call: the second id with a name of its own is a second call", async () => {
    const frames = [
      call({ index: 0, id: "a", function: { name: "find", arguments: '{"q": "abc"}' } }),
      call({ index: 0, id: "b", function: { name: "list", arguments: "{}" } }),
      delta({}, "stop"),
    ]
    const { calls, stop } = fold(await run("openai-chat", frames))
    expect(calls.map((one) => one.id)).toEqual(["a", "b"])
    expect(stop).toBe("tools")
  })

  test("broken arguments are kept as written, those cut by the limit name the cut call", async () => {
    const first = call({ index: 0, id: "c1", function: { name: "find", arguments: '{"q": ' } })
    const broken = fold(await run("openai-chat", [first, STOP]))
    expect(broken.calls).toEqual([{ id: "c1", name: "find", args: '{"q": ' }])
    const cut = fold(await run("openai-chat", [first, delta({}, "length")]))
    expect(cut).toMatchObject({ stop: "length", cutCallId: "c1" })
  })
})

describe("thoughts of chat completions", () => {
  test("LLM-019: reasoning_content is captured too, and the same text under two names once", async () => {
    const frames = [
      delta({ reasoning_content: "Let me " }),
      delta({ reasoning_content: "think.", reasoning: "think." }),
      delta({ content: "Yes." }, "stop"),
    ]
    const { thinking, text } = fold(await run("openai-chat", frames))
    expect({ thinking, text }).toEqual({ thinking: "Let me think.", text: "Yes." })
  })

  test("a gateway's signed pieces are joined and kept for the way back", async () => {
    const piece = (fields: object) =>
      delta({ reasoning_details: [{ type: "reasoning.text", index: 0, ...fields }] })
    const frames = [
      piece({ text: "Two " }),
      piece({ text: "cities." }),
      piece({ signature: "sig" }),
      delta({ content: "Rome." }, "stop"),
    ]
    const { blocks } = fold(await run("openai-chat", frames))
    const details = [{ type: "reasoning.text", index: 0, text: "Two cities.", signature: "sig" }]
    expect(blocks).toEqual([
      {
        type: "thinking",
        text: "Two cities.",
        provider: "p",
        model: "m",
        redacted: JSON.stringify(details),
      },
      { type: "text", text: "Rome." },
    ])
  })
})

test("LLM-033: a picture in the stream is caught", async () => {
  const url = "data:image/webp;base64,aGk="
  const images = [{ type: "image_url", image_url: { url } }]
  const events = await run("openai-chat", [delta({ content: "Here.", images }, "stop")])
  expect(events).toEqual([
    { type: "text", text: "Here." },
    { type: "image", mediaType: "image/webp", base64: "aGk=" },
    { type: "stop", reason: "end" },
  ])
})

describe("answers of anthropic", () => {
  const start = (index: number, content_block: object) => ({
    type: "content_block_start",
    index,
    content_block,
  })
  const part = (index: number, fields: object) => ({
    type: "content_block_delta",
    index,
    delta: fields,
  })
  const stop = (index: number) => ({ type: "content_block_stop", index })
  const end = (stop_reason: string) => [
    { type: "message_delta", delta: { stop_reason }, usage: { output_tokens: 9 } },
    { type: "message_stop" },
  ]

  test("LLM-018: a thought comes out with its signature, a hidden one with its bytes", async () => {
    const frames = [
      start(0, { type: "thinking", thinking: "", signature: "" }),
      part(0, { type: "thinking_delta", thinking: "Hm." }),
      part(0, { type: "signature_delta", signature: "si" }),
      part(0, { type: "signature_delta", signature: "g" }),
      stop(0),
      start(1, { type: "redacted_thinking", data: "enc" }),
      stop(1),
      start(2, { type: "text", text: "" }),
      { type: "ping" },
      { type: "something_new", index: 2 },
      part(2, { type: "text_delta", text: "Yes." }),
      stop(2),
      ...end("end_turn"),
    ]
    const origin = { provider: "p", model: "m" }
    expect(fold(await run("anthropic-messages", frames)).blocks).toEqual([
      { type: "thinking", text: "Hm.", ...origin, signature: "sig" },
      { type: "thinking", text: "", ...origin, redacted: "enc" },
      { type: "text", text: "Yes." },
    ])
  })

  const answered = (input: string) => [
    start(0, { type: "tool_use", id: "t", name: "plan", input: {} }),
    ...[...input].map((letter) => part(0, { type: "input_json_delta", partial_json: letter })),
    stop(0),
    ...end("tool_use"),
  ]

  test("LLM-020: the call of the synthetic tool comes out as the text of the answer", async () => {
    const answerSchema = { name: "plan", schema: { type: "object" }, strict: true }
    const events = await run("anthropic-messages", answered('{"ok": true}'), {
      request: { answerSchema },
    })
    expect(fold(events)).toMatchObject({ text: '{"ok": true}', calls: [], stop: "end" })
  })

  test("LLM-020: an answer that is no object travels in one and comes out bare", async () => {
    const answerSchema = { name: "plan", schema: { type: "array" }, strict: true }
    const events = await run("anthropic-messages", answered('{"value": [1, 2]}'), {
      request: { answerSchema },
    })
    expect(fold(events).text).toBe("[1,2]")
    expect(upstreams[0]!.requests[0]!.body.tools).toMatchObject([
      { input_schema: { type: "object", properties: { value: { type: "array" } } } },
    ])
  })

  test("an error inside the stream ends it with its class, the text so far is kept", async () => {
    const frames = [
      { type: "message_start", message: { usage: { input_tokens: 7, output_tokens: 1 } } },
      start(0, { type: "text", text: "" }),
      part(0, { type: "text_delta", text: "So far" }),
      { type: "error", error: { type: "overloaded_error", message: "Overloaded" } },
    ]
    const events = await run("anthropic-messages", frames)
    expect(events[0]).toEqual({ type: "text", text: "So far" })
    expect(events.at(-1)).toEqual({
      type: "failed",
      failure: { class: "transient", message: "Overloaded" },
    })
    expect(fold(events).usage).toMatchObject({ prompt_tokens: 7 })
  })
})

describe("usage", () => {
  test("LLM-025 LLM-026: anthropic counts the cache apart, here it is a part of the prompt", async () => {
    const usage = {
      input_tokens: 10,
      cache_read_input_tokens: 200,
      cache_creation_input_tokens: 30,
      output_tokens: 1,
    }
    const delta = {
      output_tokens: 50,
      input_tokens: null,
      output_tokens_details: { thinking_tokens: 20 },
    }
    const frames = [
      { type: "message_start", message: { usage } },
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: delta },
      { type: "message_stop" },
    ]
    expect(fold(await run("anthropic-messages", frames)).usage).toEqual({
      prompt_tokens: 240,
      completion_tokens: 50,
      reasoning_tokens: 20,
      cached_tokens: 200,
      cache_write_tokens: 30,
      cost: null,
    })
  })

  test("LLM-025 LLM-026: gateways write no cache unless they say so, and thinking is a part of the output", async () => {
    const usage = {
      prompt_tokens: 100,
      completion_tokens: 50,
      prompt_tokens_details: { cached_tokens: 80 },
      completion_tokens_details: { reasoning_tokens: 20 },
      cost: 0.01,
    }
    const frames = [delta({ content: "x" }, "stop"), { choices: [], usage }]
    expect(fold(await run("openai-chat", frames)).usage).toEqual({
      prompt_tokens: 100,
      completion_tokens: 50,
      reasoning_tokens: 20,
      cached_tokens: 80,
      cache_write_tokens: 0,
      cost: 0.01,
    })
    const apart = { ...usage, total_tokens: 170 }
    const onTop = [delta({ content: "x" }, "stop"), { choices: [], usage: apart }]
    expect(fold(await run("openai-chat", onTop)).usage).toMatchObject({
      completion_tokens: 70,
      reasoning_tokens: 20,
    })
  })

  test("zeros for a prompt that was not empty count as no report", async () => {
    const zero = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }
    const events = await run("openai-chat", [
      delta({ content: "x" }, "stop"),
      { choices: [], usage: zero },
    ])
    expect(events.map((event) => event.type)).toEqual(["text", "stop"])
  })

  test("a llama.cpp server that reports only timings", async () => {
    const timings = { cache_n: 20, prompt_n: 5, predicted_n: 3, predicted_per_second: 50 }
    const last = { ...delta({}, "stop"), timings }
    expect(fold(await run("openai-chat", [delta({ content: "x" }), last])).usage).toMatchObject({
      prompt_tokens: 25,
      completion_tokens: 3,
      cached_tokens: 20,
    })
  })
})

describe("the end", () => {
  test("a filter that cuts the answer is a refusal, on every wire", async () => {
    const chat = await run("openai-chat", [delta({ content: "So" }), delta({}, "content_filter")])
    expect(fold(chat)).toMatchObject({ text: "So", failure: { class: "refused" } })
    const response = { status: "incomplete", incomplete_details: { reason: "content_filter" } }
    const responses = await run("openai-responses", [{ type: "response.incomplete", response }])
    expect(fold(responses).failure).toMatchObject({ class: "refused" })
  })

  test("an output limit stops with length, on every wire", async () => {
    const chat = await run("openai-chat", [delta({ content: "So" }, "length")])
    expect(fold(chat).stop).toBe("length")
    const response = { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } }
    const responses = await run("openai-responses", [{ type: "response.incomplete", response }])
    expect(fold(responses).stop).toBe("length")
  })

  test("a response that failed has the class of its error", async () => {
    const failed = async (code: string, message: string) => {
      const response = { status: "failed", error: { code, message } }
      return fold(await run("openai-responses", [{ type: "response.failed", response }])).failure
    }
    expect(await failed("server_error", "oops")).toMatchObject({ class: "transient" })
    expect(await failed("context_length_exceeded", "too long")).toMatchObject({ class: "overflow" })
    expect(await failed("insufficient_quota", "pay")).toMatchObject({ class: "model" })
  })

  test("an upstream that does not stream is understood, and so is an error of status 200", async () => {
    const json = { "content-type": "application/json" }
    const answer = (body: object) => {
      const upstream = answering(() => Response.json(body, { headers: json }))
      const provider = createWire("openai-chat", { baseUrl: `${upstream.url}/v1` })
      return collect(provider.stream(REQUEST, never()))
    }
    const message = { role: "assistant", content: "Hello" }
    const whole = await answer({ choices: [{ index: 0, message, finish_reason: "stop" }] })
    expect(fold(whole)).toMatchObject({ text: "Hello", stop: "end" })
    const error = await answer({ error: { message: "no credits", code: 402 } })
    expect(fold(error).failure).toMatchObject({ class: "model", status: 402 })
  })
})
