/**
 * A step whose request fits its model: history is folded before a window that is too small for it, and once more when
 * a provider says that it is. The same request is never sent into the same wall.
 */
import { compactAfter } from "../context/profile.ts"
import type { ProviderFailure } from "../llm/provider.ts"
import type { StepSnapshot } from "../tools/snapshot.ts"
import { foldInto, foldToFit, profileOf, windowRoom } from "./folding.ts"
import type { TurnParts } from "./parts.ts"
import { takeAcceptedStep } from "./refusal.ts"
import type { RunningTurn } from "./running-turn.ts"
import type { StepAnswer } from "./step.ts"

export async function takeFittingStep(
  parts: TurnParts,
  turn: RunningTurn,
  snapshot: StepSnapshot,
): Promise<StepAnswer> {
  await foldToFit(parts, turn, snapshot.specs)
  const first = await takeAcceptedStep(parts, turn, { snapshot, onOverflow: "fold" })
  if (first.failure?.class !== "overflow" || first.blocks.length > 0) return first
  const ceiling = pinCount(parts, turn)
  const { folded } = await foldInto(parts, turn, Math.floor(ceiling / 2))
  if (turn.signal.aborted) return { ...first, failure: CANCELLED }
  const mayGrow = parts.router.models.roles.fallback.length > 0
  if (!folded && !mayGrow) return { ...first, failure: tooLarge(first.failure, folded) }
  const second = await takeAcceptedStep(parts, turn, { snapshot, onOverflow: "larger" })
  const paid = [...first.paid, ...second.paid]
  if (second.failure?.class !== "overflow") return { ...second, paid }
  return { ...second, paid, failure: tooLarge(second.failure, folded) }
}

const CANCELLED: ProviderFailure = { class: "cancelled", message: "cancelled" }

/** The provider's word weighs more than our estimate: the count stands at the ceiling until a fold takes it down. */
function pinCount(parts: TurnParts, turn: RunningTurn): number {
  const { context } = parts.settings
  const ceiling = windowRoom(parts, turn) ?? compactAfter(context, profileOf(parts, turn))
  const newest = turn.conversation.own.at(-1) ?? turn.conversation.past.at(-1)
  if (newest) {
    turn.counted = { tokens: ceiling, messageId: newest.id }
    parts.store.write(() => parts.chats.setContextAnchor(turn.spec.chatId, ceiling, newest.id))
  }
  return ceiling
}

function tooLarge(failure: ProviderFailure, folded: boolean): ProviderFailure {
  const advice = folded
    ? "older history is folded now: please send the message again, in smaller parts if it is long"
    : "nothing is left to fold: please send it in smaller parts, or choose a model with a larger context window"
  return { ...failure, message: `${failure.message} — ${advice}` }
}
