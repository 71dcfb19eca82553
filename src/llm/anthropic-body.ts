/** One request as the body of POST /v1/messages: the only way out to that wire. Pure. */
import { isObject, parseJson } from "../lib/json.ts"
import type { AnswerTool } from "./answer-tool.ts"
import type {
  AnthropicContent,
  AnthropicMessage,
  AnthropicParams,
  AnthropicText,
  AnthropicTool,
  CacheControl,
} from "./anthropic-client.ts"
import { takesTemperature, thinkingFields } from "./anthropic-models.ts"
import {
  argumentsText,
  plainCallId,
  readConversation,
  readSystem,
  type WireBlock,
  type WireMessage,
  wireName,
} from "./conversation.ts"
import type { ModelRequest } from "./provider.ts"
import { withoutRefused } from "./unsupported.ts"

export interface AnthropicBodyOptions {
  /** This wire's kind: a thought goes back only to the wire and the model that signed it. */
  kind: string
  answerTool: AnswerTool | undefined
  /** The upstream is Anthropic itself. */
  genuine: boolean
}

/** The API takes four markers: one is for the system part, the rest for the end of the history. */
const CACHE_MARKS_MAX = 4

export function anthropicBody(
  request: ModelRequest,
  options: AnthropicBodyOptions,
): AnthropicParams {
  const thinking = thinkingFields(request.model, request.effort, request.maxTokens)
  const thinks = thinking.thinking?.type !== "disabled"
  const conversation = readConversation(request, {
    keepThought: (thought) =>
      thought.provider === options.kind &&
      thought.model === request.model &&
      (thought.signature !== undefined || thought.redacted !== undefined),
    callId: plainCallId,
  })
  const system: WireBlock[] = readSystem(request).map(({ text, cacheMark }) => ({
    type: "text",
    text,
    cacheMark,
  }))
  const marked = chooseMarks(request, system, conversation)
  const control: CacheControl =
    request.cacheTtl === "1h" ? { type: "ephemeral", ttl: "1h" } : { type: "ephemeral" }
  const send = (block: WireBlock): AnthropicContent[] => {
    const sent = contentBlock(block)
    if (!sent) return []
    return [marked.has(block) ? ({ ...sent, cache_control: control } as AnthropicContent) : sent]
  }

  const body: AnthropicParams = {
    model: request.model,
    ...thinking,
    messages: messages(conversation, send),
    stream: true,
  }
  if (system.length > 0) body.system = system.flatMap(send) as AnthropicText[]
  if (request.temperature !== undefined && !thinks && takesTemperature(request.model)) {
    // The SDK's types follow the newest models, which have no such field.
    Object.assign(body, { temperature: request.temperature })
  }
  const tools = toolList(request, options)
  if (tools.length > 0) body.tools = tools
  const choice = tools.length > 0 ? toolChoice(request, options.answerTool, thinks) : undefined
  if (choice) body.tool_choice = choice
  return withoutRefused(body, request.omit)
}

function messages(
  conversation: readonly WireMessage[],
  send: (block: WireBlock) => AnthropicContent[],
): AnthropicMessage[] {
  const out: AnthropicMessage[] = conversation.map(({ role, blocks }) => ({
    role,
    content: blocks.flatMap(send),
  }))
  // The API wants the user to speak first, and a history cut to its window may not begin that way.
  if (out[0]?.role === "assistant") {
    out.unshift({ role: "user", content: [{ type: "text", text: "[conversation continues]" }] })
  }
  return out
}

function contentBlock(block: WireBlock): AnthropicContent | undefined {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text }
    case "picture": {
      const { mediaType, base64 } = block.data
      const media_type = mediaType as "image/png"
      return { type: "image", source: { type: "base64", media_type, data: base64 } }
    }
    case "tool_use":
      return { type: "tool_use", id: block.id, name: block.name, input: inputObject(block) }
    case "tool_result": {
      const result = { type: "tool_result" as const, tool_use_id: block.id }
      const content = block.output.trim() === "" ? {} : { content: block.output }
      return { ...result, ...content, ...(block.is_error && { is_error: true }) }
    }
    case "thinking":
      if (block.redacted) return { type: "redacted_thinking", data: block.redacted }
      return { type: "thinking", thinking: block.text, signature: block.signature ?? "" }
  }
}

/** Arguments that were no object stay out: the result beside them tells the model what was wrong. */
function inputObject(block: WireBlock & { type: "tool_use" }): Record<string, unknown> {
  return isObject(block.input) ? (parseJson(argumentsText(block)) as Record<string, unknown>) : {}
}

function toolList(request: ModelRequest, options: AnthropicBodyOptions): AnthropicTool[] {
  const tools: AnthropicTool[] = request.tools.map((tool) => ({
    name: wireName(tool.name),
    description: tool.description,
    input_schema: { ...tool.input_schema, type: "object" },
    // Else the API holds a long argument back until it is whole, and the stream looks dead meanwhile.
    ...(options.genuine && { eager_input_streaming: true }),
  }))
  if (options.answerTool) {
    tools.push({
      name: options.answerTool.name,
      description: "Give the final answer. The answer is the input of this tool and nothing else.",
      input_schema: { ...options.answerTool.schema, type: "object" },
    })
  }
  return tools
}

/**
 * The API refuses a forced tool while the model thinks, so then the tool is merely offered. The answer's tool is
 * forced only when the model has no other left to call.
 */
function toolChoice(
  request: ModelRequest,
  answer: AnswerTool | undefined,
  thinks: boolean,
): AnthropicParams["tool_choice"] {
  const forced =
    typeof request.toolChoice === "object"
      ? wireName(request.toolChoice.name)
      : request.toolChoice === "none" || request.tools.length === 0
        ? answer?.name
        : undefined
  if (forced) return thinks ? undefined : { type: "tool", name: forced }
  return request.toolChoice === "none" ? { type: "none" } : undefined
}

/** The blocks that bear a marker: none without a time to live, else the first of the system and the last ones. */
function chooseMarks(
  request: ModelRequest,
  system: readonly WireBlock[],
  conversation: readonly WireMessage[],
): ReadonlySet<WireBlock> {
  if (!request.cacheTtl) return new Set()
  const ofSystem = system.filter((block) => block.cacheMark).slice(-2)
  const ofHistory = conversation.flatMap(({ blocks }) => blocks.filter((block) => block.cacheMark))
  return new Set([...ofSystem, ...ofHistory.slice(-(CACHE_MARKS_MAX - ofSystem.length))])
}
