/** Folding older history around the requests of a turn: when it is due, and the turn's own view of it afterwards. */
import type { FoldResult } from "../context/compaction/compaction.ts"
import type { FoldPlan } from "../context/compaction/plan-fold.ts"
import { compactAfter, compactKeep, compactProfile } from "../context/profile.ts"
import { errorText } from "../lib/error.ts"
import type { CompactProfile } from "../schema/summary.ts"
import type { ToolSpec } from "../schema/tool-spec.ts"
import { contextTokens, foldingTokens, prefixTokens } from "./context-size.ts"
import { loadConversation, trafficOf } from "./load-conversation.ts"
import type { TurnParts } from "./parts.ts"
import type { RunningTurn } from "./running-turn.ts"

/** Of a model's window so much at most is kept free for the answer. */
const ANSWER_SHARE = 0.25
/** A history is never folded to less than this: below it nothing is left to talk about. */
const LEAST_ROOM_TOKENS = 1000

export const profileOf = ({ settings }: TurnParts, { chat, spec }: RunningTurn): CompactProfile =>
  compactProfile(settings.context, chat, spec.source)

/** Folds, and shows the turn what is left; a failure is logged and changes nothing. */
export async function foldHistory(
  parts: TurnParts,
  turn: RunningTurn,
  how: { plan: FoldPlan; room?: number },
): Promise<FoldResult> {
  const { spec, chat, live, signal, model } = turn
  const result = await parts.compaction.fold({
    ...{ chatId: spec.chatId, model, signal, ...how },
    profile: profileOf(parts, turn),
    traffic: trafficOf(parts, chat, spec.identity.anchored),
    turn: { id: spec.id, markId: turn.newMessageId() },
    onStart: () => live.emit({ type: "compacting" }),
  })
  if (result.folded) reload(parts, turn)
  return result
}

function reload(parts: TurnParts, turn: RunningTurn): void {
  const { spec, chat, refusedMessages } = turn
  Object.assign(turn, loadConversation(parts, { spec, chat, refusedMessages }))
  turn.counted = undefined
}

/** Another hand (a tool of this turn, a client) may have folded the chat or told the summary anew. */
export function followFold(parts: TurnParts, turn: RunningTurn): void {
  const now = parts.summaries.get(turn.spec.chatId)
  if (now?.upto !== turn.folded?.upto) reload(parts, turn)
  else turn.folded = now
}

/**
 * After the answer: folds when the conversation weighs as much as its profile allows. Never throws: the turn has
 * ended well, and what the fold met is no part of it.
 */
export async function foldWhenFull(
  parts: TurnParts,
  turn: RunningTurn,
  tools: readonly ToolSpec[],
): Promise<void> {
  const { context } = parts.settings
  const profile = profileOf(parts, turn)
  try {
    const limit = compactAfter(context, profile)
    const total = contextTokens(parts, turn, tools)
    // As a rule all of it is less: then the part of it that counts need not be measured.
    if (total < limit || foldingTokens(parts, turn, { tools, total }) < limit) return
    const keepTokens = compactKeep(context, profile)
    await foldHistory(parts, turn, { plan: { keepTokens, atLeast: "answer" } })
  } catch (error) {
    turn.log.error("history could not be folded after the answer", { error: errorText(error) })
  }
}

/** Before a request: folds when the model's window is too small for it. */
export async function foldToFit(
  parts: TurnParts,
  turn: RunningTurn,
  tools: readonly ToolSpec[],
): Promise<void> {
  const room = windowRoom(parts, turn)
  if (room === undefined || contextTokens(parts, turn, tools) <= room) return
  await foldInto(parts, turn, room - prefixTokens(parts, turn, tools))
}

/** Folds until the history fits into so many tokens, as far as a fold can do that. */
export function foldInto(parts: TurnParts, turn: RunningTurn, tokens: number): Promise<FoldResult> {
  const room = Math.max(LEAST_ROOM_TOKENS, tokens)
  const keep = compactKeep(parts.settings.context, profileOf(parts, turn))
  const keepTokens = Math.min(keep, Math.floor(room / 3))
  return foldHistory(parts, turn, { plan: { keepTokens, atLeast: "answer" }, room })
}

/** Tokens that a request to the turn's model may have; undefined when its window is not known. */
export function windowRoom(
  { router, settings }: TurnParts,
  { model, spec }: RunningTurn,
): number | undefined {
  const window = router.models.resolve(model).entry.contextWindow
  if (window === undefined) return undefined
  const answer = spec.maxTokens ?? settings.maxTokens
  return Math.floor(window - Math.min(answer, window * ANSWER_SHARE))
}
