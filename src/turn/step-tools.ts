/** The tools of a turn's next step. */
import { type StepSnapshot, snapshot } from "../tools/snapshot.ts"
import { turnReach } from "./mode.ts"
import type { TurnParts } from "./parts.ts"
import type { RunningTurn } from "./running-turn.ts"

export function stepTools(parts: TurnParts, turn: RunningTurn): StepSnapshot {
  const reach = turnReach(parts, turn)
  const { extraTools } = turn
  // Tools of this turn alone are nobody else's to be given.
  return extraTools.length === 0 ? parts.freeze(reach) : snapshot(parts.registry, reach, extraTools)
}
