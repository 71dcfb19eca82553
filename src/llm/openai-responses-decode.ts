/**
 * Frames of the Responses API to events. Items are told apart by their place in the output, for some gateways
 * give an item a new id in every frame (vercel-ai/github-copilot-id-rotation).
 */
import { isObject } from "../lib/json.ts"
import type { Usage } from "../schema/usage.ts"
import type { EventSink } from "./event-sink.ts"
import { StreamFailure } from "./failure.ts"
import type { StopReason } from "./provider.ts"
import { type FrameKind, throwStreamError, type WireDecoder } from "./wire-stream.ts"

type Fields = Record<string, unknown>

/** What is known of the output item at one place. */
interface Item {
  /** Our own index of a call. */
  call: number | undefined
  /** Text or arguments so far: what the `done` frame has beyond them is news. */
  streamed: string
  thought: boolean
}

/** What is known of the answer so far. */
interface State {
  items: Map<unknown, Item>
  calls: number
  refused: boolean
  usage: Usage | undefined
  stop: StopReason | undefined
}

export function createResponsesDecoder(): WireDecoder {
  const state: State = {
    items: new Map(),
    calls: 0,
    refused: false,
    usage: undefined,
    stop: undefined,
  }
  return {
    frame: (event, sink) => readDelta(state, event, sink) ?? readLifecycle(state, event),
    end: () => state.stop,
    usage: () => state.usage,
  }
}

/** Events that carry a part of one output item; undefined for all others. */
function readDelta(state: State, event: Fields, sink: EventSink): FrameKind | undefined {
  const item = itemAt(state, event.output_index)
  switch (event.type) {
    case "response.output_text.delta":
      say(item, string(event.delta), sink)
      return "payload"
    case "response.refusal.delta":
      state.refused = true
      say(item, string(event.delta), sink)
      return "payload"
    case "response.reasoning_summary_text.delta":
    case "response.reasoning_text.delta": // DeepSeek: pydantic-ai/test_deepseek_responses
      think(item, string(event.delta), sink)
      return "payload"
    case "response.reasoning_summary_part.added":
      if (item.thought) sink.thinking("\n\n")
      return "payload"
    case "response.function_call_arguments.delta":
      item.call ??= state.calls++
      argument(item, string(event.delta), sink)
      return "payload"
    case "response.output_item.added":
      if (isObject(event.item) && event.item.type === "function_call") {
        openCall(state, item, { content: event.item, sink })
      }
      return "payload"
    case "response.output_item.done":
      if (isObject(event.item)) close(state, item, { content: event.item, sink })
      return "payload"
  }
}

/** Events about the response as a whole. */
function readLifecycle(state: State, event: Fields): FrameKind {
  const response = isObject(event.response) ? event.response : {}
  switch (event.type) {
    case "response.completed":
    case "response.incomplete":
      state.usage = readResponsesUsage(response.usage) ?? state.usage
      state.stop = readStop(state, response)
      return "done"
    case "response.failed":
      state.usage = readResponsesUsage(response.usage) ?? state.usage
      return throwStreamError(response.error ?? response)
    case "error":
      return throwStreamError(event)
    case "ping":
    case "keepalive":
      return "keep-alive"
    default:
      return event.type === undefined && event.error ? throwStreamError(event) : "payload"
  }
}

function itemAt(state: State, place: unknown): Item {
  const known = state.items.get(place)
  if (known) return known
  const item: Item = { call: undefined, streamed: "", thought: false }
  state.items.set(place, item)
  return item
}

/** The output item that a frame describes in full. */
interface Whole {
  content: Fields
  sink: EventSink
}

function openCall(state: State, item: Item, { content, sink }: Whole): void {
  item.call ??= state.calls++
  item.streamed = string(content.arguments)
  const id = string(content.call_id) || string(content.id)
  const name = string(content.name)
  sink.toolCall({ index: item.call, id, name, arguments: item.streamed })
}

function argument(item: Item, part: string, sink: EventSink): void {
  if (part === "" || item.call === undefined) return
  item.streamed += part
  sink.toolCall({ index: item.call, arguments: part })
}

function say(item: Item, text: string, sink: EventSink): void {
  item.streamed += text
  sink.text(text)
}

function think(item: Item, text: string, sink: EventSink): void {
  item.thought = true
  sink.thinking(text)
}

/** The finished item: what had not been streamed comes now. */
function close(state: State, item: Item, { content, sink }: Whole): void {
  switch (content.type) {
    case "reasoning":
      closeThought(item, { content, sink })
      return
    case "function_call":
      if (item.call === undefined) openCall(state, item, { content, sink })
      else argument(item, news(item, string(content.arguments)), sink)
      return
    case "message": {
      const said = parts(content.content)
      if (said.some((part) => part.type === "refusal")) state.refused = true
      const whole = said.map((part) => string(part.text) || string(part.refusal)).join("")
      say(item, news(item, whole), sink)
      return
    }
    case "image_generation_call":
      pushDrawn(content, sink)
      return
  }
}

function closeThought(item: Item, { content, sink }: Whole): void {
  if (!item.thought) {
    const whole = [...parts(content.summary), ...parts(content.content)]
    for (const part of whole) think(item, string(part.text), sink)
  }
  const redacted = string(content.encrypted_content)
  if (redacted) sink.push({ type: "thinking_end", signature: string(content.id), redacted })
  else if (item.thought) sink.push({ type: "thinking_end" })
}

function readStop(state: State, response: Fields): StopReason {
  const details = isObject(response.incomplete_details) ? response.incomplete_details : {}
  if (details.reason === "content_filter") {
    const message = "the upstream's content filter cut the answer"
    throw new StreamFailure({ class: "refused", message })
  }
  if (response.status === "incomplete" || details.reason) return "length"
  if (state.calls > 0) return "tools"
  return state.refused ? "refusal" : "end"
}

/** Undefined when nothing usable was reported. */
export function readResponsesUsage(raw: unknown): Usage | undefined {
  if (!isObject(raw)) return undefined
  const prompt = number(raw.input_tokens)
  if (prompt === 0) return undefined
  const input = isObject(raw.input_tokens_details) ? raw.input_tokens_details : {}
  const output = isObject(raw.output_tokens_details) ? raw.output_tokens_details : {}
  return {
    prompt_tokens: prompt,
    completion_tokens: number(raw.output_tokens),
    reasoning_tokens: number(output.reasoning_tokens),
    cached_tokens: number(input.cached_tokens),
    cache_write_tokens: number(input.cache_write_tokens),
    cost: typeof raw.cost === "number" ? raw.cost : null,
  }
}

/** What the whole has beyond the deltas: some upstreams thin them out (vercel-ai/openai-phase). */
const news = (item: Item, whole: string): string =>
  whole.startsWith(item.streamed) ? whole.slice(item.streamed.length) : ""

function pushDrawn(content: Fields, sink: EventSink): void {
  const base64 = string(content.result)
  const mediaType = `image/${string(content.output_format) || "png"}`
  if (base64) sink.push({ type: "image", mediaType, base64 })
}

const parts = (value: unknown): Fields[] => (Array.isArray(value) ? value.filter(isObject) : [])
const string = (value: unknown): string => (typeof value === "string" ? value : "")
const number = (value: unknown): number =>
  typeof value === "number" && value > 0 ? Math.round(value) : 0
