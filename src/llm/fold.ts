/** Folds a provider's events into the blocks of one assistant message. Pure: no clock, no I/O. */
import { isObject, tryParseJson } from "../lib/json.ts"
import { cleanText } from "../lib/text.ts"
import type { Block, ThinkingBlock, ToolUseBlock } from "../schema/message.ts"
import type { RateLimit, Usage } from "../schema/usage.ts"
import type { ProviderEvent, ProviderFailure, StopReason } from "./provider.ts"

export interface FoldedMessage {
  blocks: Block[]
  usage: Usage | undefined
  rateLimits: RateLimit[]
  stop: StopReason | undefined
  failure: ProviderFailure | undefined
  /** The output limit cut the last call: it must not be run. */
  cutCallId: string | undefined
}

/** Who thought: kept beside each thought, for it may go back only to the same pair. */
export interface ThoughtOrigin {
  provider: string
  model: string
}

interface OpenCall {
  index: number
  block: ToolUseBlock
  raw: string
}

export function createFold(origin: ThoughtOrigin, newCallId: () => string) {
  const blocks: Block[] = []
  const calls: OpenCall[] = []
  const folded: Omit<FoldedMessage, "blocks" | "cutCallId"> = {
    usage: undefined,
    rateLimits: [],
    stop: undefined,
    failure: undefined,
  }
  let thought: ThinkingBlock | undefined

  const openThought = (): ThinkingBlock => {
    thought = { type: "thinking", text: "", ...origin }
    blocks.push(thought)
    return thought
  }
  const openCall = (event: ProviderEvent & { type: "tool_call" }): OpenCall => {
    const found =
      calls.find((call) => call.index === event.index) ??
      (event.id ? calls.find((call) => call.block.id === event.id) : undefined)
    if (found) return found
    const block: ToolUseBlock = {
      type: "tool_use",
      id: event.id || newCallId(),
      name: event.name ?? "",
      input: {},
    }
    const call = { index: event.index, block, raw: "" }
    calls.push(call)
    blocks.push(block)
    return call
  }

  const push = (event: ProviderEvent): void => {
    switch (event.type) {
      case "text": {
        thought = undefined
        const last = blocks.at(-1)
        if (last?.type === "text") last.text += event.text
        else if (event.text) blocks.push({ type: "text", text: event.text })
        return
      }
      case "thinking":
        thought = thought ?? openThought()
        thought.text += event.text
        return
      case "thinking_end": {
        // The end of nothing: some upstreams open a thought and leave it empty.
        if (!thought && !event.signature && !event.redacted) return
        const closing = thought ?? openThought()
        if (event.signature) closing.signature = event.signature
        if (event.redacted) closing.redacted = event.redacted
        thought = undefined
        return
      }
      case "tool_call": {
        thought = undefined
        const call = openCall(event)
        if (!call.block.name && event.name) call.block.name = event.name
        call.raw += event.arguments
        return
      }
      case "usage":
        folded.usage = event.usage
        return
      case "rate_limits":
        folded.rateLimits = event.limits
        return
      case "stop":
        folded.stop = event.reason
        return
      case "failed":
        folded.failure = event.failure
        return
      case "image":
        // The loop stores the bytes and adds the block itself: the fold holds no pictures.
        return
    }
  }

  const result = (): FoldedMessage => {
    for (const call of calls) Object.assign(call.block, readArguments(call.raw))
    for (const block of blocks) if ("text" in block) block.text = cleanText(block.text)
    const last = calls.at(-1)
    const cut =
      last && (folded.stop === "length" || (folded.stop !== undefined && isUnfinished(last.raw)))
    return { blocks, ...folded, cutCallId: cut ? last.block.id : undefined }
  }

  return { push, result }
}

/** Arguments as an object, or `raw` kept beside an empty object when they are no JSON object. */
export function readArguments(raw: string): Pick<ToolUseBlock, "input" | "raw"> {
  if (raw.trim() === "") return { input: {} }
  const parsed = tryParseJson(raw)
  if (parsed && isObject(parsed.value)) return { input: parsed.value }
  // Some models wrap the object in one more pair of quotes.
  if (parsed && typeof parsed.value === "string") {
    const inner = tryParseJson(parsed.value)
    if (inner && isObject(inner.value)) return { input: inner.value }
  }
  return { input: {}, raw: cleanText(raw) }
}

/** JSON that stops in the middle: a length stop that the provider called something else. */
function isUnfinished(raw: string): boolean {
  const text = raw.trim()
  return text.startsWith("{") && !tryParseJson(text) && !text.endsWith("}")
}
