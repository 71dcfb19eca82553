/**
 * The fussiest provider there is: what any real one refuses, the mock refuses first and says why. Thereby
 * every test that talks to it guards the assembly of requests.
 */
import { isObject } from "../lib/json.ts"
import type { Block, ToolUseBlock } from "../schema/message.ts"
import type { ModelMessage, ModelRequest } from "./provider.ts"

const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/

/** What is wrong with the request, in one sentence; undefined when any provider would take it. */
export function requestFault(request: ModelRequest): string | undefined {
  return systemFault(request) ?? toolsFault(request) ?? messagesFault(request) ?? textFault(request)
}

function systemFault({ system }: ModelRequest): string | undefined {
  if (system.length === 0) return "the system prompt is empty"
  const blank = system.findIndex((part) => isBlank(part.text))
  return blank < 0 ? undefined : `system part ${blank} is empty`
}

function toolsFault({ tools, toolChoice }: ModelRequest): string | undefined {
  const names = new Set<string>()
  for (const tool of tools) {
    if (!TOOL_NAME.test(tool.name)) return `tool name "${tool.name}" does not match ${TOOL_NAME}`
    if (names.has(tool.name)) return `tool ${tool.name} is offered twice`
    names.add(tool.name)
    if (tool.input_schema.type !== "object")
      return `the input schema of tool ${tool.name} must have type object, not ${JSON.stringify(tool.input_schema.type)}`
  }
  if (isObject(toolChoice) && !names.has(toolChoice.name))
    return `the forced tool ${toolChoice.name} is not offered`
  return undefined
}

function messagesFault({ messages }: ModelRequest): string | undefined {
  if (messages.length === 0) return "there are no messages"
  const callIds = new Set<string>()
  for (const [index, message] of messages.entries()) {
    const fault = shapeFault(message, callIds) ?? pairFault(callsOf(messages[index - 1]), message)
    if (fault) return `message ${index} (${message.role}): ${fault}`
  }
  const last = messages.at(-1)!
  if (last.role !== "user") return "the last message must be the user's"
  return undefined
}

/** What a message may hold by itself; `callIds` gathers the calls of the whole history. */
function shapeFault(message: ModelMessage, callIds: Set<string>): string | undefined {
  if (message.blocks.length === 0) return "it has no blocks"
  for (const block of message.blocks) {
    const fault = blockFault(block, message.role)
    if (fault) return fault
    if (block.type !== "tool_use") continue
    if (callIds.has(block.id)) return `call id ${block.id} is used twice`
    callIds.add(block.id)
  }
  return undefined
}

function blockFault(block: Block, role: ModelMessage["role"]): string | undefined {
  switch (block.type) {
    case "text":
      return isBlank(block.text) ? "a text block is empty or only white space" : undefined
    case "thinking":
      return role === "user" ? "a user message must hold no thinking" : undefined
    case "image":
      return undefined
    case "tool_use":
      if (role === "user") return `call ${block.id} stands in a user message`
      if (!TOOL_NAME.test(block.name))
        return `tool name "${block.name}" does not match ${TOOL_NAME}`
      return isObject(block.input) ? undefined : `the input of call ${block.id} is no object`
    case "tool_result":
      return role === "user" ? undefined : `result ${block.id} stands in an assistant message`
  }
}

/** Each call of the message before has exactly one result at the head of this one, and no other has. */
function pairFault(calls: ToolUseBlock[], message: ModelMessage): string | undefined {
  const results = message.blocks.filter((block) => block.type === "tool_result")
  const open = new Set(calls.map((call) => call.id))
  for (const result of results) {
    if (!open.delete(result.id))
      return `tool_result ${result.id} answers no call of the message right before it, or answers it twice`
  }
  const [unanswered] = open
  if (unanswered) return `tool_use ${unanswered} of the message before has no tool_result here`
  const late = message.blocks.findIndex((block) => block.type === "tool_result")
  if (
    results.length > 0 &&
    (late > 0 || message.blocks[results.length - 1]?.type !== "tool_result")
  )
    return "tool_result blocks must come before all other blocks"
  return undefined
}

const callsOf = (message: ModelMessage | undefined): ToolUseBlock[] =>
  message?.blocks.filter((block) => block.type === "tool_use") ?? []

function textFault({ system, messages, tools }: ModelRequest): string | undefined {
  const path = badTextPath({ system, messages, tools }, "")
  return path === undefined ? undefined : `${path} holds a NUL or half a surrogate pair`
}

/** Where the first string is that JSON or a provider cannot carry; keys count too. */
function badTextPath(value: unknown, path: string): string | undefined {
  if (typeof value === "string")
    return value.includes("\0") || !value.isWellFormed() ? path : undefined
  if (typeof value !== "object" || value === null) return undefined
  for (const [key, inner] of Object.entries(value)) {
    const here = path === "" ? key : `${path}.${key}`
    const bad = badTextPath(key, `a key in ${path}`) ?? badTextPath(inner, here)
    if (bad !== undefined) return bad
  }
  return undefined
}

const isBlank = (text: string): boolean => text.trim() === ""
