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
  /** The last call's arguments stop in the middle, whatever the provider says of the reason. */
  unfinishedCallId: string | undefined
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

/** `newCallId` names a call that the provider left without an id. */
export const createFold = (origin: ThoughtOrigin, newCallId: () => string): Fold =>
  new Fold(origin, newCallId)

class Fold {
  readonly #origin: ThoughtOrigin
  readonly #newCallId: () => string
  readonly #blocks: Block[] = []
  readonly #calls: OpenCall[] = []
  readonly #end: Pick<FoldedMessage, "usage" | "rateLimits" | "stop" | "failure"> = {
    usage: undefined,
    rateLimits: [],
    stop: undefined,
    failure: undefined,
  }
  /** The thought that is being thought; anything else closes it. */
  #thought: ThinkingBlock | undefined

  constructor(origin: ThoughtOrigin, newCallId: () => string) {
    this.#origin = origin
    this.#newCallId = newCallId
  }

  push(event: ProviderEvent): void {
    switch (event.type) {
      case "text":
        this.#addText(event.text)
        return
      case "thinking":
        this.#openThought().text += event.text
        return
      case "thinking_end":
        this.#closeThought(event)
        return
      case "tool_call":
        this.#addCall(event)
        return
      case "usage":
        this.#end.usage = event.usage
        return
      case "rate_limits":
        this.#end.rateLimits = event.limits
        return
      case "stop":
        this.#end.stop = event.reason
        return
      case "failed":
        this.#end.failure = event.failure
        return
      case "image":
        // The turn stores the bytes and adds the block itself: the fold holds no pictures.
        return
    }
  }

  result(): FoldedMessage {
    for (const call of this.#calls) Object.assign(call.block, readArguments(call.raw))
    for (const block of this.#blocks) if ("text" in block) block.text = cleanText(block.text)
    const last = this.#calls.at(-1)
    return {
      blocks: this.#blocks,
      ...this.#end,
      cutCallId: this.#end.stop === "length" ? last?.block.id : undefined,
      unfinishedCallId: last && isUnfinished(last.raw) ? last.block.id : undefined,
    }
  }

  #addText(text: string): void {
    this.#thought = undefined
    const last = this.#blocks.at(-1)
    if (last?.type === "text") last.text += text
    else if (text) this.#blocks.push({ type: "text", text })
  }

  #openThought(): ThinkingBlock {
    if (this.#thought) return this.#thought
    this.#thought = { type: "thinking", text: "", ...this.#origin }
    this.#blocks.push(this.#thought)
    return this.#thought
  }

  #closeThought({ signature, redacted }: ProviderEvent & { type: "thinking_end" }): void {
    // The end of nothing: some upstreams open a thought and leave it empty.
    if (!this.#thought && !signature && !redacted) return
    const closing = this.#openThought()
    if (signature) closing.signature = signature
    if (redacted) closing.redacted = redacted
    this.#thought = undefined
  }

  #addCall(event: ProviderEvent & { type: "tool_call" }): void {
    this.#thought = undefined
    const call = this.#callOf(event)
    if (!call.block.name && event.name) call.block.name = event.name
    call.raw += event.arguments
  }

  #callOf(event: ProviderEvent & { type: "tool_call" }): OpenCall {
    const { index, id, name = "" } = event
    const found =
      this.#calls.find((call) => call.index === index) ??
      (id ? this.#calls.find((call) => call.block.id === id) : undefined)
    if (found) return found
    const block: ToolUseBlock = { type: "tool_use", id: id || this.#newCallId(), name, input: {} }
    const call = { index, block, raw: "" }
    this.#calls.push(call)
    this.#blocks.push(block)
    return call
  }
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

/** JSON that stops in the middle. */
function isUnfinished(raw: string): boolean {
  const text = raw.trim()
  return text.startsWith("{") && !tryParseJson(text) && !text.endsWith("}")
}
