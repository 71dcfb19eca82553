/** What the tools of this room move in the turn that calls them. All of it holds from the turn's next step. */
import type { Toolset } from "../schema/toolset.ts"
import type { Reach } from "../tools/reach.ts"
import { type Tool, ToolFailure } from "../tools/tool.ts"

export interface TurnLevers {
  /** As the next step will have it. */
  reach(tool: Tool): Reach
  /** Brings reserved tools into sight for the rest of the turn. */
  open(names: readonly string[]): void
  /** Undefined takes the set off that is on. */
  wear(set: Toolset | undefined): void
}

export type LeversOf = (turnId: string) => TurnLevers | undefined

/** Throws ToolFailure when the turn is over. */
export function leversOf(source: LeversOf, turnId: string): TurnLevers {
  const levers = source(turnId)
  if (levers) return levers
  throw new ToolFailure("the turn is over")
}
