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

/** What is known of the answer so far. */
interface State {
  answer: AnswerTool | undefined
  blocks: Map<unknown, OpenBlock>
  /** The upstream's own counts, later ones over earlier ones. */
  counts: Fields
  stop: string | undefined
  refusal: unknown
  calls: number
  /** Something was said before the answer's tool. */
  spoke: boolean
}

/** `answer` is the tool whose call is the answer, when the request has one. */
export function createAnthropicDecoder(answer?: AnswerTool): WireDecoder {
  const state: State = {
    answer,
    blocks: new Map(),
    counts: {},
    stop: undefined,
    refusal: undefined,
    calls: 0,
    spoke: false,
  }
  return {
    frame: (event, sink) => readEvent(state, event, sink),
    end: (sink) => readEnd(state, sink),
    usage: () => readAnthropicUsage(state.counts),
  }
}

function readEvent(state: State, event: Fields, sink: EventSink): FrameKind {
  switch (event.type) {
    case "content_block_delta":
      if (isObject(event.delta)) readDelta(state, event, sink)
      return "payload"
    case "content_block_start":
      if (isObject(event.content_block))
        open(state, event.index, { content: event.content_block, sink })
      return "payload"
    case "content_block_stop":
      close(state, event.index, sink)
      return "payload"
    case "message_start":
      if (isObject(event.message)) readWhole(state, event.message, sink)
      return "payload"
    case "message": // An upstream that does not stream.
      readWhole(state, event, sink)
      return "done"
    case "message_delta":
      if (isObject(event.delta)) readStop(state, event.delta)
      count(state, event.usage)
      return "payload"
    case "message_stop":
      return "done"
    case "ping":
      return "keep-alive"
    case "error":
      return throwStreamError(event)
    default:
      return event.type === undefined && event.error ? throwStreamError(event) : "payload"
  }
}

/** A message may begin with content: vercel-ai/anthropic-programmatic-tool-calling. */
function readWhole(state: State, message: Fields, sink: EventSink): void {
  count(state, message.usage)
  readStop(state, message)
  if (!Array.isArray(message.content)) return
  for (const content of message.content.filter(isObject)) {
    open(state, WHOLE, { content, sink })
    close(state, WHOLE, sink)
  }
}

function readStop(state: State, holder: Fields): void {
  if (typeof holder.stop_reason === "string") state.stop = holder.stop_reason
  state.refusal = holder.stop_details ?? state.refusal
}

function open(
  state: State,
  index: unknown,
  { content, sink }: { content: Fields; sink: EventSink },
) {
  const block: OpenBlock = { kind: "other", call: 0, input: content.input, raw: "", signature: "" }
  state.blocks.set(index, block)
  if (content.type === "text") {
    block.kind = "text"
    say(state, string(content.text), sink)
  } else if (content.type === "thinking") {
    block.kind = "thinking"
    block.signature = string(content.signature)
    sink.thinking(string(content.thinking))
  } else if (content.type === "redacted_thinking") {
    sink.push({ type: "thinking_end", redacted: string(content.data) })
  } else if (content.type === "tool_use" && content.name === state.answer?.name) {
    block.kind = "answer"
  } else if (content.type === "tool_use") {
    block.kind = "call"
    block.call = state.calls++
    const name = string(content.name)
    sink.toolCall({ index: block.call, id: string(content.id), name, arguments: "" })
  }
}

function readDelta(state: State, event: Fields, sink: EventSink): void {
  const change = event.delta as Fields
  const block = state.blocks.get(event.index)
  if (change.type === "text_delta") say(state, string(change.text), sink)
  else if (change.type === "thinking_delta") sink.thinking(string(change.thinking))
  else if (!block) return
  else if (change.type === "signature_delta") block.signature += string(change.signature)
  else if (change.type === "input_json_delta") {
    const part = string(change.partial_json)
    block.raw += part
    if (block.kind === "call") sink.toolCall({ index: block.call, arguments: part })
  }
}

function close(state: State, index: unknown, sink: EventSink): void {
  const block = state.blocks.get(index)
  state.blocks.delete(index)
  if (block?.kind === "thinking") {
    sink.push({ type: "thinking_end", ...(block.signature && { signature: block.signature }) })
  }
  if (block?.kind === "answer") sayAnswer(state, block, sink)
  if (block?.kind === "call" && block.raw === "" && isObject(block.input)) {
    const given = Object.keys(block.input).length > 0
    if (given) sink.toolCall({ index: block.call, arguments: JSON.stringify(block.input) })
  }
}

function say(state: State, text: string, sink: EventSink): void {
  if (text !== "") state.spoke = true
  sink.text(text)
}

/** A thinking model may say something before it answers; the answer starts on a line of its own. */
function sayAnswer(state: State, block: OpenBlock, sink: EventSink): void {
  const raw = block.raw || JSON.stringify(block.input ?? {})
  const text = state.answer ? answerText(state.answer, raw) : raw
  say(state, (state.spoke ? "\n" : "") + text, sink)
}

/** Later counts overrule earlier ones, but a null or a missing one does not. */
function count(state: State, usage: unknown): void {
  if (!isObject(usage)) return
  const told = Object.entries(usage).filter(([, value]) => value !== null && value !== undefined)
  state.counts = { ...state.counts, ...Object.fromEntries(told) }
}

function readEnd(state: State, sink: EventSink): StopReason | undefined {
  // An answer that was cut off is still worth its text.
  for (const [index, block] of [...state.blocks]) {
    if (block.kind === "answer") close(state, index, sink)
  }
  if (state.stop === undefined) return undefined
  if (state.stop === "refusal") {
    throw new StreamFailure({ class: "refused", message: refusedText(state.refusal) })
  }
  const reason = STOP_REASONS[state.stop] ?? "end"
  // The only call was the answer: for the caller nothing is left to be run.
  return reason === "tools" && state.calls === 0 ? "end" : reason
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

function refusedText(details: unknown): string {
  const why = isObject(details) ? string(details.explanation) || string(details.category) : ""
  return why ? `the model's safety filter refused: ${why}` : "the model's safety filter refused"
}

const string = (value: unknown): string => (typeof value === "string" ? value : "")
const number = (value: unknown): number =>
  typeof value === "number" && value > 0 ? Math.round(value) : 0
