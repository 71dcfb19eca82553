/** How tools move the turn that calls them. What they change holds from its next step. */
import type { Effort } from "../schema/effort.ts"
import { reach } from "../tools/reach.ts"
import type { TurnLevers } from "../toolsets/levers.ts"
import { effortOf, isUncapped, turnReach } from "./mode.ts"
import type { TurnParts } from "./parts.ts"
import type { RunningTurn } from "./running-turn.ts"

export interface Levers extends TurnLevers {
  isUncapped(): boolean
  /** The turn has no cap of requests any more. */
  lift(): void
  effort(): Effort
  /** From the next step; a lower level than the present one changes nothing. */
  raise(level: Effort): void
}

export function leversFor(parts: TurnParts, turn: RunningTurn): Levers {
  const effort = () => effortOf(parts, turn, parts.router.models.resolve(turn.model))
  return {
    reach: (tool) => reach(tool, turnReach(parts, turn)),
    open: (names) => {
      for (const name of names) turn.opened.add(name)
    },
    wear: (set) => {
      turn.toolset = set
    },
    isUncapped: () => isUncapped(turn),
    lift: () => {
      turn.lifted = true
      turn.log.info("the turn's cap of requests was lifted", { step: turn.step })
    },
    effort,
    raise: (level) => {
      const before = effort()
      turn.raised = level
      turn.log.info("the turn's effort was raised", { from: before, to: effort(), step: turn.step })
    },
  }
}
