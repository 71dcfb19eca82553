/** The line `[window]` of a request, and the memory of what was shown once already. */
import { windowLine } from "../context/fragments/window.ts"
import { pressureOf } from "../context/pressure.ts"
import { compactAfter } from "../context/profile.ts"
import type { ToolSpec } from "../schema/tool-spec.ts"
import { contextTokens, foldingTokens } from "./context-size.ts"
import { profileOf } from "./folding.ts"
import type { TurnParts } from "./parts.ts"
import type { RunningTurn } from "./running-turn.ts"

/** Settles the line at the entry of a turn; what is shown once is noted down with it. */
export function settleWindowLine(
  parts: TurnParts,
  turn: RunningTurn,
  tools: readonly ToolSpec[],
): void {
  const { summaries, settings, router } = parts
  const { context } = settings
  const { chatId } = turn.spec
  const total = contextTokens(parts, turn, tools)
  const window = router.models.resolve(turn.model).entry.contextWindow
  const at = {
    threshold: compactAfter(context, profileOf(parts, turn)),
    windowLeft: window === undefined ? Number.POSITIVE_INFINITY : window - total,
    reserve: context.pressure.wrap_up_reserve_tokens,
    shown: {
      wrapUp: summaries.isNudged(chatId, "wrap"),
      // Only who can write something down is asked to.
      justFolded: !turn.notes || summaries.isNudged(chatId, "notes"),
    },
    isFolded: turn.folded !== undefined,
  }
  // What would be silent if all counted is silent: as a rule the part that counts need not be measured.
  const ifAllCounted = pressureOf({ ...at, used: total })
  const pressure =
    ifAllCounted && pressureOf({ ...at, used: foldingTokens(parts, turn, { tools, total }) })
  turn.window = pressure ? windowLine(pressure.step, pressure.figures, context.pressure) : ""
  if (pressure?.step === "wrap_up") summaries.setNudged(chatId, "wrap")
  if (pressure?.step === "just_folded") summaries.setNudged(chatId, "notes")
}
