/** How a turn works now: its tools, its cap and its effort, all of which it may change from one step to the next. */
import { effortFor, raisedEffort } from "../llm/effort.ts"
import type { Target } from "../llm/models.ts"
import type { Effort } from "../schema/effort.ts"
import type { Toolset } from "../schema/toolset.ts"
import type { ReachTurn } from "../tools/reach.ts"
import type { TurnIdentity } from "../tools/tool.ts"
import { accessOf } from "../toolsets/toolsets.ts"
import type { TurnParts } from "./parts.ts"
import type { RunningTurn } from "./running-turn.ts"

/** What decides on every tool in the next step. */
export function turnReach(
  parts: TurnParts,
  turn: Pick<RunningTurn, "spec" | "toolset" | "opened" | "notes" | "hasPlan">,
): ReachTurn {
  const { spec, toolset, opened, notes, hasPlan } = turn
  const { identity } = spec
  const planning = isPlanning({ identity, narrate: modeOf(turn)?.narrate === true, hasPlan })
  return {
    identity: { ...identity, planning, indexedNotes: notes?.mode === "index" },
    access: spec.access,
    ...(toolset && { toolset: accessOf(toolset) }),
    onDemand: parts.settings.onDemand,
    opened: [...opened],
  }
}

/**
 * A turn that works rather than talks: a plan helps it. What is unfinished must not be hidden, so an open plan is
 * enough.
 */
export const isPlanning = ({
  identity: { master, clientOps, agent, planning },
  narrate,
  hasPlan,
}: {
  identity: TurnIdentity
  narrate: boolean
  hasPlan: boolean
}): boolean => master && (planning || clientOps || narrate || agent || hasPlan)

/** The set that is on, where its mode holds: the master chose it for turns of his own. */
export const modeOf = ({ spec, toolset }: Pick<RunningTurn, "spec" | "toolset">) =>
  spec.identity.master ? toolset : undefined

export const isUncapped = (turn: RunningTurn): boolean =>
  turn.spec.uncapped || turn.lifted || modeOf(turn)?.uncapped === true

/** Of a request to this model. */
export function effortOf(parts: TurnParts, turn: RunningTurn, { entry, upstream }: Target): Effort {
  const wished = effortFor({
    ...turn.effortWishes,
    ultrathink: turn.spec.ultrathink,
    entry: entry.effort,
    global: upstream.defaults.effort ?? parts.settings.reasoning,
  })
  return turn.raised === undefined ? wished : raisedEffort(wished, turn.raised)
}

/** The set that a turn begins with: the send's own word, else what the chat has. */
export function firstToolset(
  { toolsets }: Pick<TurnParts, "toolsets">,
  at: { wished: string | null | undefined; pinned: string | null },
): Toolset | undefined {
  const name = at.wished === undefined ? at.pinned : at.wished
  return name === null ? undefined : toolsets.find(name)
}
