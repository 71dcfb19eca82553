/**
 * Calls and their results are one unit: a provider refuses a history that holds half of it. Here stands how
 * an unfinished unit at the end of a chat is found and closed.
 */
import { MACHINE_TEXT } from "../schema/machine-text.ts"
import type { Message, ToolResultBlock, ToolUseBlock } from "../schema/message.ts"

export interface OpenTail {
  /** The assistant message that called. */
  caller: Message
  /** Its calls without a result. */
  calls: ToolUseBlock[]
}

export const hasResults = (message: Message): boolean =>
  message.blocks.some((block) => block.type === "tool_result")

export const callsOf = (message: Message): ToolUseBlock[] =>
  message.blocks.filter((block) => block.type === "tool_use")

export const resultIdsOf = (message: Message): string[] =>
  message.blocks.filter((block) => block.type === "tool_result").map((block) => block.id)

/**
 * The unanswered calls that a history ends with, read backwards from its newest message; undefined when it
 * ends in speech or in a complete unit. Calls that were left open further up are not looked at: history is
 * repaired where a prompt is built.
 */
export function openTail(newestFirst: Iterable<Message>): OpenTail | undefined {
  const answered = new Set<string>()
  for (const message of newestFirst) {
    if (hasResults(message)) {
      for (const id of resultIdsOf(message)) answered.add(id)
      continue
    }
    const calls = callsOf(message).filter((call) => !answered.has(call.id))
    return calls.length > 0 ? { caller: message, calls } : undefined
  }
  return undefined
}

/** The results of calls that a cancel or the cut of a branch left without one: one text for both. */
export const cancelledResults = (calls: readonly ToolUseBlock[]): ToolResultBlock[] =>
  calls.map((call) => ({
    type: "tool_result",
    id: call.id,
    output: MACHINE_TEXT.call_cancelled.marker,
    is_error: true,
  }))
