/** Which part of a history is folded: whole moves of the conversation, as far as what is kept allows it. Pure. */
import type { Message } from "../../schema/message.ts"
import { isUtterance } from "../utterance.ts"

export interface FoldPlan {
  /** Most tokens that stay as they are behind the fold. */
  keepTokens: number
  /**
   * What stays in any case: the newest words of a person with all that followed, or only the newest answer with
   * the results of its calls.
   */
  atLeast: "move" | "answer"
}

/**
 * How many of the messages are folded, by what each weighs in a prompt; 0 when nothing can be. The rest begins
 * with words of a person where that fits, else with an answer, never between a call and its result.
 */
export function planFold(
  messages: readonly Message[],
  weights: readonly number[],
  { keepTokens, atLeast }: FoldPlan,
): number {
  const last = messages.findLastIndex(
    atLeast === "move" ? isUtterance : ({ role }) => role === "assistant",
  )
  if (last <= 0) return 0
  const from = tailFrom(weights, keepTokens)
  if (from === 0) return 0
  const borderFrom = (isBorder: (message: Message) => boolean): number =>
    messages.findIndex((message, at) => at >= from && at > 0 && at <= last && isBorder(message))
  const move = borderFrom(isUtterance)
  if (move > 0) return move
  const answer = atLeast === "answer" ? borderFrom(({ role }) => role === "assistant") : -1
  return answer > 0 ? answer : last
}

/** Where the longest tail of at most so many tokens begins. */
function tailFrom(weights: readonly number[], tokens: number): number {
  let left = tokens
  let from = weights.length
  while (from > 0 && weights[from - 1]! <= left) left -= weights[--from]!
  return from
}
