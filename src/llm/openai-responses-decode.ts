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

export function createResponsesDecoder(): WireDecoder {
  const items = new Map<unknown, Item>()
  let calls = 0
  let refused = false
  let usage: Usage | undefined
  let stop: StopReason | undefined

  const at = (place: unknown): Item => {
    const known = items.get(place)
    if (known) return known
    const item: Item = { call: undefined, streamed: "", thought: false }
    items.set(place, item)
    return item
  }

  const frame = (event: Fields, sink: EventSink): FrameKind => {
    const place = event.output_index
    switch (event.type) {
      case "response.output_text.delta":
        say(at(place), string(event.delta), sink)
        return "payload"
      case "response.refusal.delta":
        refused = true
        say(at(place), string(event.delta), sink)
        return "payload"
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta": // DeepSeek: pydantic-ai/test_deepseek_responses
        think(at(place), string(event.delta), sink)
        return "payload"
      case "response.reasoning_summary_part.added":
        if (at(place).thought) sink.thinking("\n\n")
        return "payload"
      case "response.function_call_arguments.delta":
        argument(at(place), string(event.delta), sink)
        return "payload"
      case "response.output_item.added":
        if (isObject(event.item)) open(at(place), event.item, sink)
        return "payload"
      case "response.output_item.done":
        if (isObject(event.item)) close(at(place), event.item, sink)
        return "payload"
      default:
        return other(event)
    }
  }

  const other = (event: Fields): FrameKind => {
    const response = isObject(event.response) ? event.response : {}
    switch (event.type) {
      case "response.completed":
      case "response.incomplete":
        usage = readResponsesUsage(response.usage) ?? usage
        stop = readStop(response)
        return "done"
      case "response.failed":
        usage = readResponsesUsage(response.usage) ?? usage
        return throwStreamError(response.error ?? response)
      case "error":
        return throwStreamError(event)
      case "ping":
      case "keepalive":
        return "keep-alive"
      default:
        if (event.type === undefined && event.error) throwStreamError(event)
        return "payload"
    }
  }

  const open = (item: Item, content: Fields, sink: EventSink): void => {
    if (content.type !== "function_call") return
    item.call ??= calls++
    const id = string(content.call_id) || string(content.id)
    const name = string(content.name)
    item.streamed = string(content.arguments)
    sink.toolCall({ index: item.call, id, name, arguments: item.streamed })
  }

  const argument = (item: Item, part: string, sink: EventSink): void => {
    if (part === "") return
    item.call ??= calls++
    item.streamed += part
    sink.toolCall({ index: item.call, arguments: part })
  }

  const think = (item: Item, text: string, sink: EventSink): void => {
    item.thought = true
    sink.thinking(text)
  }

  /** The finished item: what had not been streamed comes now. */
  const close = (item: Item, content: Fields, sink: EventSink): void => {
    switch (content.type) {
      case "reasoning":
        closeThought(item, content, sink)
        return
      case "function_call":
        if (item.call === undefined) open(item, content, sink)
        else argument(item, news(item, string(content.arguments)), sink)
        return
      case "message":
        sayRest(item, content, sink)
        return
      case "image_generation_call":
        pushDrawn(content, sink)
        return
    }
  }

  const say = (item: Item, text: string, sink: EventSink): void => {
    item.streamed += text
    sink.text(text)
  }

  const sayRest = (item: Item, content: Fields, sink: EventSink): void => {
    const said = parts(content.content)
    if (said.some((part) => part.type === "refusal")) refused = true
    const whole = said.map((part) => string(part.text) || string(part.refusal)).join("")
    say(item, news(item, whole), sink)
  }

  const closeThought = (item: Item, content: Fields, sink: EventSink): void => {
    if (!item.thought) {
      const whole = [...parts(content.summary), ...parts(content.content)]
      for (const part of whole) think(item, string(part.text), sink)
    }
    const redacted = string(content.encrypted_content)
    if (redacted) sink.push({ type: "thinking_end", signature: string(content.id), redacted })
    else if (item.thought) sink.push({ type: "thinking_end" })
  }

  const readStop = (response: Fields): StopReason => {
    const details = isObject(response.incomplete_details) ? response.incomplete_details : {}
    if (details.reason === "content_filter") {
      throw new StreamFailure({
        class: "refused",
        message: "the upstream's content filter cut the answer",
      })
    }
    if (response.status === "incomplete" || details.reason) return "length"
    if (calls > 0) return "tools"
    return refused ? "refusal" : "end"
  }

  return { frame, end: () => stop, usage: () => usage }
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
