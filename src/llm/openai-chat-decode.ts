/**
 * Frames of Chat Completions to events, for every dialect at once: what an upstream sends is recognised by its
 * shape. Each oddity names the recorded stream that shows it.
 */
import { isObject } from "../lib/json.ts"
import type { Usage } from "../schema/usage.ts"
import { fromDataUrl } from "./data-url.ts"
import type { EventSink } from "./event-sink.ts"
import { StreamFailure } from "./failure.ts"
import { createCallJoiner } from "./openai-chat-calls.ts"
import { readChatUsage, readTimings } from "./openai-chat-usage.ts"
import type { StopReason } from "./provider.ts"
import { createReasoningDetails } from "./reasoning-details.ts"
import { type FrameKind, throwStreamError, type WireDecoder } from "./wire-stream.ts"

type Fields = Record<string, unknown>

const STOP_REASONS: Readonly<Record<string, StopReason>> = {
  stop: "end",
  tool_calls: "tools",
  function_call: "tools",
  length: "length",
  model_length: "length", // Mistral
  max_tokens: "length",
}

/** What is known of the answer so far. */
interface State {
  calls: ReturnType<typeof createCallJoiner>
  details: ReturnType<typeof createReasoningDetails>
  /** Of the choice that is the answer; undefined until one has spoken. */
  choiceIndex: unknown
  finish: string | undefined
  refused: boolean
  /** `[DONE]` came. */
  done: boolean
  usage: Usage | undefined
}

export function createChatDecoder(): WireDecoder {
  const state: State = {
    calls: createCallJoiner(),
    details: createReasoningDetails(),
    choiceIndex: undefined,
    finish: undefined,
    refused: false,
    done: false,
    usage: undefined,
  }
  return {
    frame: (chunk, sink) => readChunk(state, chunk, sink),
    done: () => {
      state.done = true
    },
    end: (sink) => readEnd(state, sink),
    usage: () => state.usage,
  }
}

function readChunk(state: State, chunk: Fields, sink: EventSink): FrameKind {
  if (chunk.error) throwStreamError(chunk)
  state.usage = readChunkUsage(chunk) ?? state.usage
  if (Array.isArray(chunk.choices)) {
    for (const choice of chunk.choices) if (isObject(choice)) readChoice(state, choice, sink)
  }
  return "payload"
}

function readChoice(state: State, choice: Fields, sink: EventSink): void {
  if (typeof choice.finish_reason === "string" && choice.finish_reason !== "") {
    state.finish = choice.finish_reason
  }
  // A server that does not stream sends the whole message where the delta should be.
  const delta = choice.delta ?? choice.message
  if (!isObject(delta) || !isOurs(state, choice.index ?? 0, delta)) return
  readThought(state, delta, sink)
  if (delta.content || delta.tool_calls) closeThought(state, sink)
  readContent(delta.content, sink)
  if (typeof delta.refusal === "string" && delta.refusal !== "") {
    state.refused = true
    sink.text(delta.refusal)
  }
  // `tool_calls: null`: pydantic-ai/test_snowflake/test_snowflake_model_streaming.
  if (Array.isArray(delta.tool_calls)) {
    for (const call of delta.tool_calls) if (isObject(call)) readCall(state, call, sink)
  }
  if (Array.isArray(delta.images)) for (const image of delta.images) readImage(image, sink)
}

/** The answer is the choice that spoke first, whatever its index: vercel-ai-inline/openai/should-stream-text-delta. */
function isOurs(state: State, index: unknown, delta: Fields): boolean {
  if (state.choiceIndex === undefined && speaks(delta)) state.choiceIndex = index
  return index === state.choiceIndex
}

/** A role alone is no word yet. */
function speaks(delta: Fields): boolean {
  for (const name in delta) if (name !== "role" && delta[name]) return true
  return false
}

function readThought(state: State, delta: Fields, sink: EventSink): void {
  state.details.add(delta.reasoning_details)
  // DeepSeek, xAI, Qwen · OpenRouter, Groq, Ollama · Copilot. Some send the same text under two names.
  const text =
    string(delta.reasoning_content) || string(delta.reasoning) || string(delta.reasoning_text)
  sink.thinking(text || state.details.text(delta.reasoning_details))
}

function closeThought(state: State, sink: EventSink): void {
  const record = state.details.take()
  if (record) sink.push({ type: "thinking_end", redacted: record })
}

function readCall(state: State, call: Fields, sink: EventSink): void {
  const details = isObject(call.function) ? call.function : {}
  const place = state.calls.place({ index: call.index, id: call.id, name: details.name })
  sink.toolCall({ ...place, arguments: argumentsOf(details.arguments) })
}

function readEnd(state: State, sink: EventSink): StopReason | undefined {
  closeThought(state, sink)
  const { finish } = state
  if (finish === "content_filter" || finish === "safety") {
    const message = "the upstream's content filter cut the answer"
    throw new StreamFailure({ class: "refused", message })
  }
  if (finish === "error") {
    throw new StreamFailure({ class: "transient", message: "the upstream broke off the answer" })
  }
  // [DONE] without a reason is a whole answer: simonw-llm/test_tools_streaming/test_tools_streaming_variant_b.
  if (finish === undefined && !state.done) return undefined
  const reason = STOP_REASONS[finish ?? "stop"] ?? "end"
  if (reason === "length") return "length"
  if (state.calls.count() > 0) return "tools"
  return state.refused ? "refusal" : "end"
}

/** Mistral sends parts, thoughts among them: vercel-ai/mistral-reasoning. */
function readContent(content: unknown, sink: EventSink): void {
  if (typeof content === "string") sink.text(content)
  else if (Array.isArray(content)) {
    for (const part of content.filter(isObject)) readPart(part, sink)
  }
}

function readPart(part: Fields, sink: EventSink): void {
  if (typeof part.text === "string") sink.text(part.text)
  if (part.type === "image_url") readImage(part, sink)
  const thought = typeof part.thinking === "string" ? [{ text: part.thinking }] : part.thinking
  if (!Array.isArray(thought)) return
  for (const piece of thought) if (isObject(piece)) sink.thinking(String(piece.text ?? ""))
}

/** Groq keeps it in its own drawer; zeros in early chunks are Copilot's (copilot_tools_streaming_reasoning). */
function readChunkUsage(chunk: Fields): Usage | undefined {
  if (chunk.usage) return readChatUsage(chunk.usage)
  if (isObject(chunk.x_groq)) return readChatUsage(chunk.x_groq.usage)
  return chunk.timings ? readTimings(chunk.timings) : undefined
}

/** `null`: simonw-llm/test_tools_streaming/test_tools_streaming_variant_d. Ollama's native form is an object. */
function argumentsOf(value: unknown): string {
  if (typeof value === "string") return value
  return isObject(value) ? JSON.stringify(value) : ""
}

/** Pictures that a drawing model sends: `{type: "image_url", image_url: {url: "data:…"}}`. */
function readImage(image: unknown, sink: EventSink): void {
  const holder = isObject(image) ? image.image_url : undefined
  const url = isObject(holder) ? holder.url : holder
  const data = typeof url === "string" ? fromDataUrl(url) : undefined
  if (data) sink.push({ type: "image", ...data })
}

const string = (value: unknown): string => (typeof value === "string" ? value : "")
