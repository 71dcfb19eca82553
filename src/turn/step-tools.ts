/** The tools of each step of a turn, frozen anew only when something has changed that decides on them. */
import { type StepSnapshot, snapshot } from "../tools/snapshot.ts"
import { turnReach } from "./mode.ts"
import type { TurnParts } from "./parts.ts"
import type { RunningTurn } from "./running-turn.ts"

export function createStepTools(parts: TurnParts, turn: RunningTurn): () => StepSnapshot {
  let frozen: { by: readonly unknown[]; tools: StepSnapshot } | undefined
  return () => {
    // The registry gives another list when a tool has come or gone; what is opened in a turn only grows.
    const by = [parts.registry.list(), turn.toolset, turn.opened.size, turn.hasPlan]
    if (!frozen || by.some((value, index) => value !== frozen!.by[index])) {
      const tools = snapshot(parts.registry, turnReach(parts, turn), turn.extraTools)
      frozen = { by, tools }
    }
    return frozen.tools
  }
}
