/** Frames of the Messages API to events. Kinds that it does not know, it skips: the API adds new ones. */
import { isObject } from "../lib/json.ts"
import type { Usage } from "../schema/usage.ts"
import { type AnswerTool, answerText } from "./answer-tool.ts"
import type { EventSink } from "./event-sink.ts"
import { StreamFailure } from "./failure.ts"
import type { StopReason } from "./provider.ts"
import { type FrameKind, throwStreamError, type WireDecoder } from "./wire-stream.ts"

type Fields = Record<string, unknown>

const STOP_REASONS: Readonly<Record<string, StopReason>> = {
  end_turn: "end",
  stop_sequence: "end",
  // A server tool wants another round; we offer none of them, so what has come is the answer.
  pause_turn: "end",
  tool_use: "tools",
  max_tokens: "length",
  model_context_window_exceeded: "length",
}

/** The place of a block that came in one piece. */
const WHOLE = Symbol("whole")

interface OpenBlock {
  kind: "text" | "thinking" | "call" | "answer" | "other"
  /** Our own index of a call, counted over the whole stream. */
  call: number
  /** What came with the block's start, for upstreams that send no deltas. */
  input: unknown
  raw: string
  signature: string
}

export function createAnthropicDecoder(answer?: AnswerTool): WireDecoder {
  const blocks = new Map<unknown, OpenBlock>()
  let counts: Fields = {}
  let stop: string | undefined
  let refusal: unknown
  let calls = 0
  let spoke = false

  const frame = (event: Fields, sink: EventSink): FrameKind => {
    switch (event.type) {
      case "content_block_delta":
        if (isObject(event.delta)) delta(blocks.get(event.index), event.delta, sink)
        return "payload"
      case "content_block_start":
        if (isObject(event.content_block)) start(event.index, event.content_block, sink)
        return "payload"
      case "content_block_stop":
        close(event.index, sink)
        return "payload"
      case "message_start":
        if (isObject(event.message)) whole(event.message, sink)
        return "payload"
      case "message": // An upstream that does not stream.
        whole(event, sink)
        return "done"
      case "message_delta":
        if (isObject(event.delta)) {
          stop = typeof event.delta.stop_reason === "string" ? event.delta.stop_reason : stop
          refusal = event.delta.stop_details ?? refusal
        }
        count(event.usage)
        return "payload"
      case "message_stop":
        return "done"
      case "ping":
        return "keep-alive"
      case "error":
        return throwStreamError(event)
      default:
        if (event.type === undefined && event.error) throwStreamError(event)
        return "payload"
    }
  }

  /** A message may begin with content: vercel-ai/anthropic-programmatic-tool-calling. */
  const whole = (message: Fields, sink: EventSink): void => {
    count(message.usage)
    stop = typeof message.stop_reason === "string" ? message.stop_reason : stop
    if (!Array.isArray(message.content)) return
    for (const content of message.content.filter(isObject)) {
      start(WHOLE, content, sink)
      close(WHOLE, sink)
    }
  }

  const start = (index: unknown, content: Fields, sink: EventSink): void => {
    const block: OpenBlock = {
      kind: "other",
      call: 0,
      input: content.input,
      raw: "",
      signature: "",
    }
    blocks.set(index, block)
    if (content.type === "text") {
      block.kind = "text"
      say(string(content.text), sink)
    } else if (content.type === "thinking") {
      block.kind = "thinking"
      block.signature = string(content.signature)
      sink.thinking(string(content.thinking))
    } else if (content.type === "redacted_thinking") {
      sink.push({ type: "thinking_end", redacted: string(content.data) })
    } else if (content.type === "tool_use" && answer && content.name === answer.name) {
      block.kind = "answer"
    } else if (content.type === "tool_use") {
      block.kind = "call"
      block.call = calls++
      const name = string(content.name)
      sink.toolCall({ index: block.call, id: string(content.id), name, arguments: "" })
    }
  }

  const delta = (block: OpenBlock | undefined, change: Fields, sink: EventSink): void => {
    if (change.type === "text_delta") say(string(change.text), sink)
    else if (change.type === "thinking_delta") sink.thinking(string(change.thinking))
    else if (!block) return
    else if (change.type === "signature_delta") block.signature += string(change.signature)
    else if (change.type === "input_json_delta") {
      const part = string(change.partial_json)
      block.raw += part
      if (block.kind === "call") sink.toolCall({ index: block.call, arguments: part })
    }
  }

  const close = (index: unknown, sink: EventSink): void => {
    const block = blocks.get(index)
    blocks.delete(index)
    if (!block) return
    if (block.kind === "thinking") {
      sink.push({ type: "thinking_end", ...(block.signature && { signature: block.signature }) })
    }
    if (block.kind === "answer") sayAnswer(block, sink)
    const given = block.raw === "" && isObject(block.input) && Object.keys(block.input).length > 0
    if (block.kind === "call" && given) {
      sink.toolCall({ index: block.call, arguments: JSON.stringify(block.input) })
    }
  }

  const say = (text: string, sink: EventSink): void => {
    if (text !== "") spoke = true
    sink.text(text)
  }
  /** A thinking model may say something before it answers; the answer starts on a line of its own. */
  const sayAnswer = (block: OpenBlock, sink: EventSink): void => {
    const raw = block.raw || JSON.stringify(block.input ?? {})
    say((spoke ? "\n" : "") + (answer ? answerText(answer, raw) : raw), sink)
  }

  /** Later counts overrule earlier ones, but a null or a missing one does not. */
  const count = (usage: unknown): void => {
    if (!isObject(usage)) return
    const told = Object.entries(usage).filter(([, value]) => value !== null && value !== undefined)
    counts = { ...counts, ...Object.fromEntries(told) }
  }

  const end = (sink: EventSink): StopReason | undefined => {
    for (const index of [...blocks.keys()]) {
      if (blocks.get(index)!.kind === "answer") close(index, sink)
    }
    if (stop === "refusal") throw new StreamFailure({ class: "refused", message: refused(refusal) })
    if (stop === undefined) return undefined
    const reason = STOP_REASONS[stop] ?? "end"
    // The only call was the answer: for the caller nothing is left to be run.
    return reason === "tools" && calls === 0 ? "end" : reason
  }

  return { frame, end, usage: () => readAnthropicUsage(counts) }
}

/** Undefined when nothing usable was reported. The API counts cached input apart from the rest. */
export function readAnthropicUsage(raw: Fields): Usage | undefined {
  const cached = number(raw.cache_read_input_tokens)
  const written = number(raw.cache_creation_input_tokens)
  const prompt = number(raw.input_tokens) + cached + written
  if (prompt === 0) return undefined
  const details = isObject(raw.output_tokens_details) ? raw.output_tokens_details : {}
  return {
    prompt_tokens: prompt,
    completion_tokens: number(raw.output_tokens),
    reasoning_tokens: number(details.thinking_tokens),
    cached_tokens: cached,
    cache_write_tokens: written,
    cost: null,
  }
}

function refused(details: unknown): string {
  const why = isObject(details) ? string(details.explanation) || string(details.category) : ""
  return why ? `the model's safety filter refused: ${why}` : "the model's safety filter refused"
}

const string = (value: unknown): string => (typeof value === "string" ? value : "")
const number = (value: unknown): number =>
  typeof value === "number" && value > 0 ? Math.round(value) : 0
