/**
 * What every wire needs done to a history before it may leave: nothing empty, no foreign thought, turns that
 * alternate, results right after their calls, names and ids that every upstream accepts. Pure.
 */
import { cleanText } from "../lib/text.ts"
import type {
  Block,
  ImageBlock,
  Role,
  TextBlock,
  ThinkingBlock,
  ToolResultBlock,
  ToolUseBlock,
} from "../schema/message.ts"
import type { ImageData, ModelRequest, SystemPart } from "./provider.ts"

/** A picture whose bytes go along. */
export interface PictureBlock {
  type: "picture"
  data: ImageData
}

export type WireBlock = (
  | TextBlock
  | ThinkingBlock
  | PictureBlock
  | ToolUseBlock
  | ToolResultBlock
) & {
  /** A cache marker belongs on this block. */
  cacheMark?: boolean
}

export interface WireMessage {
  role: Role
  blocks: WireBlock[]
}

export interface ConversationOptions {
  /** Whether this thought may go back to this wire and model. */
  keepThought(thought: ThinkingBlock): boolean
  /** The form of a call's id that the upstream accepts. */
  callId(id: string): string
}

interface BlockContext {
  role: Role
  images: ModelRequest["images"]
  keepThought: ConversationOptions["keepThought"]
}

/** The history as a wire may send it. Calls and results are assumed paired. */
export function readConversation(
  request: ModelRequest,
  options: ConversationOptions,
): WireMessage[] {
  const ids = createIdMap(options.callId)
  const turns: WireMessage[] = []
  for (const message of request.messages) {
    const context = { role: message.role, images: request.images, keepThought: options.keepThought }
    const wireBlocks = (blocks: readonly Block[]) =>
      blocks.flatMap((block) => wireBlock(block, context))
    const { cacheMark: marked } = message
    const blocks = wireBlocks(message.blocks.slice(0, marked))
    if (marked !== undefined) {
      markLast(blocks.length > 0 ? blocks : (turns.at(-1)?.blocks ?? []))
      blocks.push(...wireBlocks(message.blocks.slice(marked)))
    }
    if (blocks.length === 0) continue
    const turn = turns.at(-1)
    if (turn?.role === message.role) turn.blocks.push(...blocks)
    else turns.push({ role: message.role, blocks })
  }
  for (const turn of turns) turn.blocks = resultsFirst(turn.blocks).map((block) => ids.apply(block))
  return turns
}

/** System parts that hold something, in order. */
export const readSystem = (request: ModelRequest): SystemPart[] =>
  request.system
    .filter((part) => part.text.trim() !== "")
    .map((part) => ({ ...part, text: cleanText(part.text) }))

/** A tool's name in the strictest form that any upstream demands: `^[a-zA-Z0-9_-]{1,64}$`. */
export const wireName = (name: string): string =>
  name.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64) || "unnamed"

/** An id that OpenAI (40 characters at most) and Anthropic (`^[a-zA-Z0-9_-]+$`) both accept. */
export const plainCallId = (id: string): string =>
  id.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 40) || "call"

/** Arguments as JSON text, without the escapes of half characters and NUL that upstreams refuse. */
export function argumentsText(call: ToolUseBlock): string {
  const text = JSON.stringify(call.input ?? {})
  if (!/\\u(?:0000|d[89a-f])/i.test(text)) return text
  return JSON.stringify(call.input, (_key, value: unknown) =>
    typeof value === "string" ? cleanText(value) : value,
  )
}

function wireBlock(block: Block, { role, images, keepThought }: BlockContext): WireBlock[] {
  switch (block.type) {
    case "text":
      return block.text.trim() === "" ? [] : [{ type: "text", text: cleanText(block.text) }]
    case "thinking":
      return role === "assistant" && keepThought(block) ? [{ ...block }] : []
    case "image":
      return [picture(block, role, images)]
    case "tool_use":
      return [{ ...block, name: wireName(block.name) }]
    case "tool_result":
      return [{ ...block, output: cleanText(block.output) }]
  }
}

/** No wire takes pictures in an assistant's message, and not every model takes them at all. */
function picture(block: ImageBlock, role: Role, images: ModelRequest["images"]): WireBlock {
  if (role === "assistant") return { type: "text", text: `[image ${block.id}]` }
  const data = images.get(block.id)
  if (!data) return { type: "text", text: `[image ${block.id} — this model cannot see it]` }
  return { type: "picture", data }
}

/** Upstreams cannot mark a thought. */
function markLast(blocks: WireBlock[]): void {
  const block = blocks.findLast((candidate) => candidate.type !== "thinking")
  if (block) block.cacheMark = true
}

function resultsFirst(blocks: WireBlock[]): WireBlock[] {
  const isResult = (block: WireBlock) => block.type === "tool_result"
  if (!blocks.some(isResult)) return blocks
  return [...blocks.filter(isResult), ...blocks.filter((block) => !isResult(block))]
}

/**
 * Ids as the upstream wants them, unique in the whole request: small models number their calls anew in every
 * answer, and a result belongs to the latest call of its id.
 */
function createIdMap(form: (id: string) => string) {
  const taken = new Set<string>()
  const current = new Map<string, string>()

  const fresh = (id: string): string => {
    let candidate = form(id)
    for (let n = 2; taken.has(candidate); n++) candidate = form(`${id.slice(0, 32)}_${n}`)
    taken.add(candidate)
    current.set(id, candidate)
    return candidate
  }
  const apply = (block: WireBlock): WireBlock => {
    if (block.type === "tool_use") return { ...block, id: fresh(block.id) }
    if (block.type === "tool_result")
      return { ...block, id: current.get(block.id) ?? form(block.id) }
    return block
  }
  return { apply }
}
