/** One request as the body of POST /responses: the only way out to that wire. Pure. */
import {
  argumentsText,
  plainCallId,
  readConversation,
  readSystem,
  type WireBlock,
  wireName,
} from "./conversation.ts"
import { toDataUrl } from "./data-url.ts"
import { OPENAI_THINKERS, openAiEffort } from "./openai-chat-quirks.ts"
import type { ResponsesContent, ResponsesItem, ResponsesParams } from "./openai-client.ts"
import type { ModelRequest } from "./provider.ts"
import { withoutRefused } from "./unsupported.ts"

export interface ResponsesBodyOptions {
  /** This wire's kind: thoughts of others stay here. */
  kind: string
  structuredOutput: boolean
  /** The upstream is OpenAI itself, whose models are known by name. */
  genuine: boolean
}

const LEVELS = { low: "low", mid: "medium", high: "high" } as const

export function responsesBody(
  request: ModelRequest,
  options: ResponsesBodyOptions,
): ResponsesParams {
  const conversation = readConversation(request, {
    // The encrypted form is the thought; its visible summary alone means nothing to the upstream.
    keepThought: (thought) =>
      thought.provider === options.kind &&
      thought.model === request.model &&
      thought.signature !== undefined &&
      thought.redacted !== undefined,
    callId: plainCallId,
  })
  const body: ResponsesParams = {
    model: request.model,
    input: conversation.flatMap(({ role, blocks }) =>
      role === "user" ? userItems(blocks) : assistantItems(blocks),
    ),
    stream: true,
    // The kernel keeps the history; the upstream need not.
    store: false,
    ...thinking(request, options),
    ...tools(request),
  }
  const system = readSystem(request)
  if (system.length > 0) body.instructions = system.map((part) => part.text).join("\n\n")
  if (request.maxTokens !== undefined) body.max_output_tokens = request.maxTokens
  const fixed = options.genuine && OPENAI_THINKERS.test(request.model)
  if (request.temperature !== undefined && !fixed) body.temperature = request.temperature
  if (request.answerSchema && options.structuredOutput) {
    body.text = { format: { type: "json_schema", ...request.answerSchema } }
  }
  if (request.sessionKey && options.genuine) body.prompt_cache_key = request.sessionKey
  return withoutRefused(body, request.omit)
}

function thinking(request: ModelRequest, options: ResponsesBodyOptions): Partial<ResponsesParams> {
  const { effort, model } = request
  const level = options.genuine
    ? openAiEffort(effort, model)
    : effort === "off"
      ? undefined
      : LEVELS[effort]
  if (level === undefined) return {}
  return {
    reasoning: { effort: level as "low", ...(effort !== "off" && { summary: "auto" }) },
    include: ["reasoning.encrypted_content"],
  }
}

function tools(request: ModelRequest): Partial<ResponsesParams> {
  const list: NonNullable<ResponsesParams["tools"]> = request.tools.map((tool) => ({
    type: "function",
    name: wireName(tool.name),
    description: tool.description,
    parameters: tool.input_schema,
    strict: false,
  }))
  if (request.imageOutput) list.push({ type: "image_generation" })
  if (list.length === 0) return {}
  const fields: Partial<ResponsesParams> = { tools: list, parallel_tool_calls: true }
  if (request.toolChoice === "none") fields.tool_choice = "none"
  else if (request.toolChoice) {
    fields.tool_choice = { type: "function", name: wireName(request.toolChoice.name) }
  }
  return fields
}

function userItems(blocks: readonly WireBlock[]): ResponsesItem[] {
  const items: ResponsesItem[] = []
  const content: ResponsesContent[] = []
  for (const block of blocks) {
    if (block.type === "tool_result") {
      items.push({ type: "function_call_output", call_id: block.id, output: block.output })
    } else if (block.type === "text") {
      content.push({ type: "input_text", text: block.text })
    } else if (block.type === "picture") {
      content.push({ type: "input_image", detail: "auto", image_url: toDataUrl(block.data) })
    }
  }
  if (content.length > 0) items.push({ type: "message", role: "user", content })
  return items
}

function assistantItems(blocks: readonly WireBlock[]): ResponsesItem[] {
  return blocks.flatMap((block): ResponsesItem[] => {
    switch (block.type) {
      case "text":
        return [{ type: "message", role: "assistant", content: block.text }]
      case "tool_use": {
        const call = { call_id: block.id, name: block.name, arguments: argumentsText(block) }
        return [{ type: "function_call", ...call }]
      }
      case "thinking":
        return [
          {
            type: "reasoning",
            id: block.signature ?? "",
            summary: block.text ? [{ type: "summary_text", text: block.text }] : [],
            encrypted_content: block.redacted,
          },
        ]
      default:
        return []
    }
  })
}
