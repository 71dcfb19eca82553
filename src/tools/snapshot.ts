/**
 * What the tools are for one trip to the provider. Frozen: a call runs by the snapshot that declared it,
 * whatever was loaded, switched or detached since.
 */
import { nearest } from "../lib/text.ts"
import type { ToolSpec } from "../schema/tool-spec.ts"
import { type Reach, type ReachTurn, reach } from "./reach.ts"
import { type Registry, toolSpec } from "./registry.ts"
import type { Tool } from "./tool.ts"

/** A line of the hidden-tools block. */
export interface HiddenTool {
  name: string
  group: string
  description: string
}

export type Resolved = { tool: Tool } | { refusal: string }

export interface StepSnapshot {
  /** The tools that the model is shown. */
  readonly specs: readonly ToolSpec[]
  /** The tools that are one `tool_load` away. */
  readonly hidden: readonly HiddenTool[]
  /** The tool that a call by this name runs, or why none does, in words for the model. */
  resolve(name: string): Resolved
}

/** The tools that lift a reservation, best first. */
const LOADERS = ["tool_load", "toolset"]

/**
 * `own` are tools of the turn alone: whoever declared them for it means them, so nothing narrows them. A tool
 * that has come into the registry under such a name since stays out of this turn.
 */
export function snapshot(
  registry: Pick<Registry, "list" | "get" | "whyGone">,
  turn: ReachTurn,
  own: readonly Tool[] = [],
): StepSnapshot {
  const frozen = structuredClone(turn)
  const states = new Map<string, { tool: Tool; reach: Reach }>()
  const specs: ToolSpec[] = []
  const hidden: HiddenTool[] = []
  const owned = new Map(own.map((tool) => [tool.name, tool]))
  for (const { tool, spec } of registry.list()) {
    if (owned.has(tool.name)) continue
    const state = reach(tool, frozen)
    states.set(tool.name, { tool, reach: state })
    if (state.state === "visible") specs.push(spec)
    if (state.state === "reserved") {
      hidden.push({ name: tool.name, group: tool.group, description: tool.description })
    }
  }
  for (const tool of own) {
    states.set(tool.name, { tool, reach: { state: "visible" } })
    specs.push(toolSpec(tool))
  }
  const shown = [...specs, ...hidden].map((tool) => tool.name)
  const loaders = LOADERS.filter((name) => states.get(name)?.reach.state === "visible")

  const resolve = (name: string): Resolved => {
    const entry = states.get(name)
    if (!entry) return { refusal: unknownTool(name, shown, registry.whyGone(name)) }
    if (entry.reach.state === "forbidden") {
      return { refusal: `${name} is closed in this turn: ${entry.reach.reason}.` }
    }
    if (entry.reach.state === "reserved") return { refusal: reservedTool(name, loaders) }
    return owned.get(name) === entry.tool ? { tool: entry.tool } : living(entry.tool)
  }

  /** The tool as it lives now: the same one, or its like from a module that attached anew. */
  const living = (tool: Tool): Resolved => {
    const now = registry.get(tool.name)
    if (now === tool) return { tool }
    if (now?.group === tool.group && reach(now, frozen).state !== "forbidden") return { tool: now }
    const cause = registry.whyGone(tool.name) ?? "it was taken out of the registry"
    return {
      refusal: `${tool.name} could not run: it was offered in this step and has gone since (${cause}). The call was right; go on without it or try again later.`,
    }
  }

  return Object.freeze({ specs: Object.freeze(specs), hidden: Object.freeze(hidden), resolve })
}

function unknownTool(name: string, shown: readonly string[], gone: string | undefined): string {
  if (gone !== undefined) return `${name} is not available any more (${gone}).`
  const guess = nearest(name, shown)
  return `There is no tool ${JSON.stringify(name)}.${guess ? ` Did you mean ${guess}?` : ""}`
}

function reservedTool(name: string, loaders: readonly string[]): string {
  const ways = loaders.map((loader) =>
    loader === "tool_load" ? `load it with tool_load ("${name}")` : "put on a set with toolset",
  )
  const way =
    ways.length > 0
      ? ` To use it, ${ways.join(" or ")}; it works from the next step.`
      : " The master can bring it into sight, in the settings of the chat or of the kernel."
  return `${name} is not among the tools of this step, so the call did not run.${way}`
}
