/**
 * The registry: every tool that exists, under one name each. One bad tool is refused alone and loudly;
 * order never depends on who connected first, since the list is a part of the cached prompt.
 */
import type { Log } from "../lib/log.ts"
import { TOOL_GATES, type ToolInfo, type ToolSpec } from "../schema/tool-spec.ts"
import { namesTool } from "./access.ts"
import { shownSchema } from "./shown-schema.ts"
import type { Tool } from "./tool.ts"

/** The alphabet and length of the strictest provider. */
export const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/

/** How many departed tools keep the reason of their departure. */
const DEPARTED_MAX = 1000

export interface RegistryEntry {
  readonly tool: Tool
  /** What a model is shown, output schema included. */
  readonly spec: ToolSpec
}

export interface Registry {
  /** False when the tool was refused: a name that is taken or that no provider accepts. */
  register(tool: Tool): boolean
  registerAll(tools: Iterable<Tool>): void
  /** Takes a whole group out: a module detached. The cause is told to calls that still name its tools. */
  removeGroup(group: string, cause: string): void
  get(name: string): Tool | undefined
  /** Why a tool that was here is gone. */
  whyGone(name: string): string | undefined
  /** All entries by group, then by name. */
  list(): readonly RegistryEntry[]
  /** What clients see; `onDemand` holds names and groups kept out of the default list. */
  info(onDemand: readonly string[]): ToolInfo[]
  /** Names that were registered twice; the first one stayed. */
  collisions(): string[]
}

export function createRegistry(options: { log: Log }): Registry {
  const { log } = options
  const entries = new Map<string, RegistryEntry>()
  /** A name wanted twice, and the group that came second. */
  const collisions = new Map<string, string>()
  const departed = new Map<string, string>()
  let sorted: readonly RegistryEntry[] | undefined

  const register = (tool: Tool): boolean => {
    const refusal = unfit(tool)
    if (refusal !== undefined) {
      log.error(`tool refused: ${refusal}`, { tool: tool.name, group: tool.group })
      return false
    }
    const first = entries.get(tool.name)
    if (first) {
      collisions.set(tool.name, tool.group)
      log.error("tool refused: its name is taken, the first registration stays", {
        tool: tool.name,
        group: tool.group,
        taken_by: first.tool.group,
      })
      return false
    }
    entries.set(tool.name, { tool, spec: toolSpec(tool) })
    departed.delete(tool.name)
    sorted = undefined
    return true
  }

  const removeGroup = (group: string, cause: string): void => {
    for (const [name, { tool }] of entries) {
      if (tool.group !== group) continue
      entries.delete(name)
      collisions.delete(name)
      departed.set(name, cause)
    }
    for (const [name, latecomer] of collisions) if (latecomer === group) collisions.delete(name)
    for (const name of departed.keys()) {
      if (departed.size <= DEPARTED_MAX) break
      departed.delete(name)
    }
    sorted = undefined
  }

  const list = (): readonly RegistryEntry[] => {
    sorted ??= Object.freeze([...entries.values()].sort(byGroupAndName))
    return sorted
  }

  return {
    register,
    registerAll: (tools) => {
      for (const tool of tools) register(tool)
    },
    removeGroup,
    get: (name) => entries.get(name)?.tool,
    whyGone: (name) => departed.get(name),
    list,
    info: (onDemand) => list().map((entry) => toolInfo(entry, onDemand)),
    collisions: () => [...collisions.keys()].sort(),
  }
}

/** Why no provider would take this tool, or undefined. */
function unfit(tool: Tool): string | undefined {
  if (!TOOL_NAME.test(tool.name)) {
    return "a name has 1 to 64 characters of A-Z, a-z, 0-9, _ and -"
  }
  if (tool.input.type !== "object") return "the input schema must have type object"
  return undefined
}

/**
 * No provider has a field for the shape of a result, so it stands at the end of the description.
 */
export function toolSpec(tool: Tool): ToolSpec {
  const shape = tool.output
    ? `\n\nA success answers with one JSON object of this schema: ${JSON.stringify(tool.output)}`
    : ""
  return {
    name: tool.name,
    description: tool.description + shape,
    input_schema: shownSchema(tool.input),
  }
}

function toolInfo({ tool, spec }: RegistryEntry, onDemand: readonly string[]): ToolInfo {
  const raised = TOOL_GATES.filter((gate) => tool.gates.includes(gate))
  return {
    ...spec,
    group: tool.group,
    ...(tool.icon !== undefined && { icon: tool.icon }),
    ...(tool.brief !== undefined && { brief: tool.brief }),
    ...(tool.traits.quiet && { quiet: true }),
    ...(namesTool(onDemand, tool) && { on_demand: true }),
    ...Object.fromEntries(raised.map((gate) => [gate, true])),
  }
}

function byGroupAndName(a: RegistryEntry, b: RegistryEntry): number {
  return compare(a.tool.group, b.tool.group) || compare(a.tool.name, b.tool.name)
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
