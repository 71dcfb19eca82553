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

export function createChatDecoder(): WireDecoder {
  const calls = createCallJoiner()
  const details = createReasoningDetails()
  let choiceIndex: unknown
  let finish: string | undefined
  let refused = false
  let finished = false
  let usage: Usage | undefined

  const frame = (chunk: Fields, sink: EventSink): FrameKind => {
    if (chunk.error) throwStreamError(chunk)
    usage = readChunkUsage(chunk) ?? usage
    if (!Array.isArray(chunk.choices)) return "payload"
    for (const choice of chunk.choices.filter(isObject)) readChoice(choice, sink)
    return "payload"
  }

  const readChoice = (choice: Fields, sink: EventSink): void => {
    if (typeof choice.finish_reason === "string" && choice.finish_reason !== "") {
      finish = choice.finish_reason
    }
    // A server that does not stream sends the whole message where the delta should be.
    const delta = choice.delta ?? choice.message
    if (!isObject(delta) || !ours(choice, delta)) return
    readThought(delta, sink)
    if (delta.content || delta.tool_calls) closeThought(sink)
    readContent(delta.content, sink)
    if (typeof delta.refusal === "string" && delta.refusal !== "") {
      refused = true
      sink.text(delta.refusal)
    }
    // `tool_calls: null`: pydantic-ai/test_snowflake/test_snowflake_model_streaming.
    if (Array.isArray(delta.tool_calls)) {
      for (const call of delta.tool_calls.filter(isObject)) readCall(call, sink)
    }
    if (Array.isArray(delta.images)) for (const image of delta.images) readImage(image, sink)
  }

  /** The answer is the choice that spoke first, whatever its index: vercel-ai-inline/openai/should-stream-text-delta. */
  const ours = (choice: Fields, delta: Fields): boolean => {
    const index = choice.index ?? 0
    if (choiceIndex === undefined && speaks(delta)) choiceIndex = index
    return index === choiceIndex
  }

  const readThought = (delta: Fields, sink: EventSink): void => {
    details.add(delta.reasoning_details)
    // DeepSeek, xAI, Qwen · OpenRouter, Groq, Ollama · Copilot. Some send the same text under two names.
    const text = [delta.reasoning_content, delta.reasoning, delta.reasoning_text].find(
      (value) => typeof value === "string" && value !== "",
    )
    sink.thinking(typeof text === "string" ? text : details.text(delta.reasoning_details))
  }

  const readCall = (call: Fields, sink: EventSink): void => {
    const details = isObject(call.function) ? call.function : {}
    const place = calls.place({ index: call.index, id: call.id, name: details.name })
    sink.toolCall({ ...place, arguments: argumentsOf(details.arguments) })
  }

  const closeThought = (sink: EventSink): void => {
    const record = details.take()
    if (record) sink.push({ type: "thinking_end", redacted: record })
  }

  const end = (sink: EventSink): StopReason | undefined => {
    closeThought(sink)
    if (finish === "content_filter" || finish === "safety") {
      throw new StreamFailure({
        class: "refused",
        message: "the upstream's content filter cut the answer",
      })
    }
    if (finish === "error") {
      throw new StreamFailure({ class: "transient", message: "the upstream broke off the answer" })
    }
    // [DONE] without a reason is a whole answer: simonw-llm/test_tools_streaming/test_tools_streaming_variant_b.
    if (finish === undefined && !finished) return undefined
    const reason = STOP_REASONS[finish ?? "stop"] ?? "end"
    if (reason === "length") return "length"
    if (calls.count() > 0) return "tools"
    return refused ? "refusal" : "end"
  }

  const done = (): void => {
    finished = true
  }

  return { frame, done, end, usage: () => usage }
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

/** A role alone is no word yet. */
function speaks(delta: Fields): boolean {
  for (const name in delta) if (name !== "role" && delta[name]) return true
  return false
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
