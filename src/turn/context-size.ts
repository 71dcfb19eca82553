/** How large the context of a turn's next request is: the provider's own count, and an estimate of what came since. */
import { weigh } from "../context/compaction/weights.ts"
import { stateText } from "../context/fragments/state.ts"
import { systemParts } from "../context/fragments/system.ts"
import type { ToolSpec } from "../schema/tool-spec.ts"
import { trafficOf } from "./load-conversation.ts"
import type { TurnParts } from "./parts.ts"
import type { RunningTurn } from "./running-turn.ts"
import { machineView, systemOf } from "./step.ts"

/** Tokens of the whole request: prefix, conversation and state. */
export function contextTokens(
  parts: TurnParts,
  turn: RunningTurn,
  tools: readonly ToolSpec[],
): number {
  const { past, own } = turn.conversation
  const messages = [...past, ...own]
  const counted = turn.counted && messages.findLastIndex(({ id }) => id === turn.counted!.messageId)
  const textTokens = (text: string): number => parts.router.tokens.text(turn.model, text)
  const scales = { traffic: trafficOf(parts, turn.chat, turn.spec.identity.anchored), textTokens }
  const weightOf = (from: number): number =>
    weigh(messages.slice(from), scales).reduce((sum, weight) => sum + weight, 0)
  if (counted !== undefined && counted >= 0) return turn.counted!.tokens + weightOf(counted + 1)
  return (
    prefixTokens(parts, turn, tools) + weightOf(0) + textTokens(stateText(machineView(parts, turn)))
  )
}

/** The part of so many tokens that `context.compact_scope` counts towards a fold. */
export function foldingTokens(
  parts: TurnParts,
  turn: RunningTurn,
  { tools, total }: { tools: readonly ToolSpec[]; total: number },
): number {
  const isAll = parts.settings.context.compact_scope === "total"
  return isAll ? total : total - prefixTokens(parts, turn, tools)
}

/** Tokens of what stands before the messages, by estimate. */
export function prefixTokens(
  parts: TurnParts,
  turn: RunningTurn,
  tools: readonly ToolSpec[],
): number {
  const { tokens, models } = parts.router
  const { entry } = models.resolve(turn.model)
  const system = systemParts(systemOf(parts, turn, { entry, cacheMark: false }))
  return tokens.request(entry.name, { system, messages: [], tools: [...tools], images: new Map() })
}
