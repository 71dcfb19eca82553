/** Snapshots of a registry, made once for all turns that may reach the same of the same tools. */
import type { ReachTurn } from "./reach.ts"
import type { Registry, RegistryEntry } from "./registry.ts"
import { type StepSnapshot, snapshot } from "./snapshot.ts"

/** The tools for a turn that may reach so much. Equal questions about an unchanged registry get the same object. */
export type Freeze = (turn: ReachTurn) => StepSnapshot

/** So many are kept; a kernel rarely has more kinds of turns at a time. */
const KEPT = 64

export function createFreezer(registry: Pick<Registry, "list" | "get" | "whyGone">): Freeze {
  let frozenFrom: readonly RegistryEntry[] | undefined
  const known = new Map<string, StepSnapshot>()
  return (turn) => {
    // The registry gives another list when a tool has come or gone.
    const now = registry.list()
    if (now !== frozenFrom) known.clear()
    frozenFrom = now
    const key = JSON.stringify(turn)
    const tools = known.get(key) ?? snapshot(registry, turn)
    // Put last, so that the first is the one that was asked for longest ago.
    known.delete(key)
    known.set(key, tools)
    if (known.size > KEPT) known.delete(known.keys().next().value!)
    return tools
  }
}
