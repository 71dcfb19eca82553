/** One request as the body of POST /chat/completions: the only way out to that wire. Pure. */

import { isObject, tryParseJson } from "../lib/json.ts"
import type { ThinkingBlock } from "../schema/message.ts"
import {
  argumentsText,
  plainCallId,
  readConversation,
  readSystem,
  type WireBlock,
  type WireMessage,
  wireName,
} from "./conversation.ts"
import { toDataUrl } from "./data-url.ts"
import type { ChatQuirks } from "./openai-chat-quirks.ts"
import type { ChatContentPart, ChatMessage, ChatParams, ChatToolCall } from "./openai-client.ts"
import type { ModelRequest } from "./provider.ts"
import { withoutRefused } from "./unsupported.ts"

export interface ChatBodyOptions {
  /** This wire's kind: thoughts of others stay here. */
  kind: string
  quirks: ChatQuirks
  structuredOutput: boolean
}

/** Content with the gateway's marker; the standard knows neither. */
type Part = ChatContentPart & { cache_control?: { type: "ephemeral"; ttl?: "1h" } }

export function chatBody(request: ModelRequest, options: ChatBodyOptions): ChatParams {
  const { quirks } = options
  const fixed = quirks.fixedTemperature?.test(request.model)
  const body: ChatParams & Record<string, unknown> = {
    model: request.model,
    messages: messages(request, options),
    stream: true,
  }
  if (!quirks.noStreamOptions) body.stream_options = { include_usage: true }
  Object.assign(body, tools(request))
  if (request.maxTokens !== undefined) body[quirks.maxTokensField] = request.maxTokens
  if (request.temperature !== undefined && !fixed) body.temperature = request.temperature
  if (request.answerSchema && options.structuredOutput) {
    body.response_format = { type: "json_schema", json_schema: { ...request.answerSchema } }
  }
  // The gateway's own modality: the standard knows text and audio only.
  if (request.imageOutput) body.modalities = ["image", "text"] as never
  if (quirks.cacheKeyField && request.sessionKey) body[quirks.cacheKeyField] = request.sessionKey
  Object.assign(body, quirks.effort(request.effort, request.model), quirks.always)
  return withoutRefused(body, request.omit)
}

function tools(request: ModelRequest): Partial<ChatParams> {
  if (request.tools.length === 0) return {}
  const fields: Partial<ChatParams> = {
    tools: request.tools.map((tool) => ({
      type: "function",
      function: {
        name: wireName(tool.name),
        description: tool.description,
        parameters: tool.input_schema,
      },
    })),
    parallel_tool_calls: true,
  }
  if (request.toolChoice === "none") fields.tool_choice = "none"
  else if (request.toolChoice) {
    fields.tool_choice = { type: "function", function: { name: wireName(request.toolChoice.name) } }
  }
  return fields
}

function messages(request: ModelRequest, options: ChatBodyOptions): ChatMessage[] {
  const { quirks, kind } = options
  const conversation = readConversation(request, {
    keepThought: (thought) =>
      quirks.thoughtField !== undefined &&
      thought.provider === kind &&
      thought.model === request.model,
    callId: quirks.callId ?? plainCallId,
  })
  const form = { parts: quirks.cacheMarkers, ttl: request.cacheTtl, quirks }
  const system = readSystem(request)
  const blocks: WireBlock[] = system.map(({ text, cacheMark }) => ({
    type: "text",
    text,
    cacheMark,
  }))
  const out: ChatMessage[] = []
  if (blocks.length > 0) out.push({ role: "system", content: content(blocks, form) as string })
  for (const message of conversation) {
    if (message.role === "user") out.push(...userMessages(message, form))
    else out.push(assistantMessage(message, form))
  }
  return out
}

interface Form {
  /** Text goes as parts, which can carry markers, and never as one string. */
  parts: boolean
  ttl: ModelRequest["cacheTtl"]
  quirks: ChatQuirks
}

function userMessages(message: WireMessage, form: Form): ChatMessage[] {
  const out: ChatMessage[] = []
  const rest: WireBlock[] = []
  for (const block of message.blocks) {
    if (block.type !== "tool_result") {
      rest.push(block)
      continue
    }
    // Not every upstream takes an empty result.
    const text: WireBlock = { type: "text", text: block.output.trim() ? block.output : "(empty)" }
    if (block.cacheMark) text.cacheMark = true
    out.push({ role: "tool", tool_call_id: block.id, content: content([text], form) as string })
  }
  if (rest.length > 0) out.push({ role: "user", content: content(rest, form) })
  return out
}

function assistantMessage(message: WireMessage, form: Form): ChatMessage {
  const texts = message.blocks.filter((block) => block.type === "text")
  const calls: ChatToolCall[] = message.blocks
    .filter((block) => block.type === "tool_use")
    .map((call) => ({
      id: call.id,
      type: "function",
      function: { name: call.name, arguments: argumentsText(call) },
    }))
  const out: ChatMessage & Record<string, unknown> = {
    role: "assistant",
    content: texts.length > 0 ? (content(texts, form) as string) : null,
  }
  if (calls.length > 0) out.tool_calls = calls
  const thoughts = message.blocks.filter((block) => block.type === "thinking")
  return Object.assign(out, thoughtFields(thoughts, form.quirks))
}

/** Thoughts as text, and the gateway's own signed record of them where it gave one. */
function thoughtFields(thoughts: ThinkingBlock[], quirks: ChatQuirks): Record<string, unknown> {
  const fields: Record<string, unknown> = {}
  const text = thoughts.map((thought) => thought.text).join("")
  if (text.trim() !== "" && quirks.thoughtField) fields[quirks.thoughtField] = text
  const details = thoughts.flatMap((thought) => {
    const parsed = thought.redacted ? tryParseJson(thought.redacted) : undefined
    return Array.isArray(parsed?.value) ? parsed.value.filter(isObject) : []
  })
  if (details.length > 0) fields.reasoning_details = details
  return fields
}

/** One string where that says it all, since not every server takes parts. */
function content(blocks: readonly WireBlock[], form: Form): string | Part[] {
  const plain = !form.parts && blocks.every((block) => block.type === "text")
  if (plain) return blocks.map((block) => (block.type === "text" ? block.text : "")).join("\n\n")
  return blocks.flatMap((block): Part[] => {
    const part = contentPart(block)
    if (part && block.cacheMark && form.parts && form.ttl) {
      part.cache_control =
        form.ttl === "1h" ? { type: "ephemeral", ttl: "1h" } : { type: "ephemeral" }
    }
    return part ? [part] : []
  })
}

function contentPart(block: WireBlock): Part | undefined {
  if (block.type === "text") return { type: "text", text: block.text }
  if (block.type === "picture") {
    return { type: "image_url", image_url: { url: toDataUrl(block.data) } }
  }
  return undefined
}
