/** Which step of the warning about a full history is due. Pure: what was shown before is told by the caller. */
import type { WindowFigures, WindowStep } from "./fragments/window.ts"

export interface Pressure {
  /** Tokens of the conversation, in the scope that folding measures by. */
  used: number
  /** The threshold of the chat's profile. */
  threshold: number
  /** Tokens left in the model's own window; infinite when that is not known. */
  windowLeft: number
  /** `context.pressure.wrap_up_reserve_tokens` */
  reserve: number
  /** Of this window: the history between two folds. */
  shown: { wrapUp: boolean; justFolded: boolean }
  /** Some of the history is folded. */
  isFolded: boolean
}

/** Silence up to this share of the threshold: further off the line would be noise in every turn. */
const PRESSURE_AT_PERCENT = 60

/** Undefined while nothing needs to be said. */
export function pressureOf(
  pressure: Pressure,
): { step: WindowStep; figures: WindowFigures } | undefined {
  const { used, threshold, windowLeft, reserve, shown, isFolded } = pressure
  const left = Math.min(threshold - used, windowLeft)
  const figures = { used, limit: used + left, left: Math.max(0, left) }
  if (isFolded && !shown.justFolded) return { step: "just_folded", figures }
  const near = (threshold * (100 - PRESSURE_AT_PERCENT)) / 100
  if (left >= near) return undefined
  // At the wall itself the fold comes anyway: a warning in the same turn would be one too many.
  if (left > 0 && left <= reserve && !shown.wrapUp) return { step: "wrap_up", figures }
  return { step: "notice", figures }
}
