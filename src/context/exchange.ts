/** The tool traffic of a history: each answer's calls with the results that stand behind it. */
import { MACHINE_TEXT } from "../schema/machine-text.ts"
import type { Message, ToolResultBlock, ToolUseBlock } from "../schema/message.ts"

/** A call and its one result, as they are stored; a result that was lost is made up. */
export interface Pair {
  call: ToolUseBlock
  result: ToolResultBlock
}

/** All calls of one answer. */
export interface Exchange {
  /** Where the answer stands among the messages. */
  at: number
  turnId: string | null
  pairs: readonly Pair[]
}

/** In the order of the messages. Answers without calls are none. */
export function exchangesIn(messages: readonly Message[]): Exchange[] {
  const exchanges: Exchange[] = []
  for (const [at, { role, turn_id: turnId }] of messages.entries()) {
    if (role !== "assistant") continue
    const pairs = pairsOf(messages, at)
    if (pairs.length > 0) exchanges.push({ at, turnId, pairs })
  }
  return exchanges
}

/**
 * The calls of an answer with their results, in order. Results stand in the turn's messages before its next
 * answer, the first of an id counts, and one that was lost is made up. A result that answers nothing is an
 * orphan and never appears.
 */
export function pairsOf(messages: readonly Message[], at: number): Pair[] {
  const calls = messages[at]!.blocks.filter((block) => block.type === "tool_use")
  if (calls.length === 0) return []
  const results = resultsBehind(messages, at)
  return calls.map((call) => {
    const found = results.findIndex((result) => result.id === call.id)
    const [result = lostResult] = found < 0 ? [] : results.splice(found, 1)
    return { call, result }
  })
}

function resultsBehind(messages: readonly Message[], index: number): ToolResultBlock[] {
  const { turn_id } = messages[index]!
  const results: ToolResultBlock[] = []
  for (let at = index + 1; at < messages.length; at++) {
    const { role, turn_id: turn, blocks } = messages[at]!
    if (role === "assistant" || turn !== turn_id) break
    results.push(...blocks.filter((block) => block.type === "tool_result"))
  }
  return results
}

const lostResult: ToolResultBlock = {
  type: "tool_result",
  id: "",
  output: MACHINE_TEXT.call_interrupted.marker,
  is_error: true,
}
