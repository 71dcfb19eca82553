/** Lists of tool names and groups: matching them and reading them from where they are stored. */
import { tryParseJson } from "../lib/json.ts"
import type { Tool, ToolAccess } from "./tool.ts"

export const ALL_TOOLS: ToolAccess = Object.freeze({ kind: "all" })
export const NO_TOOLS: ToolAccess = Object.freeze({ kind: "only", names: Object.freeze([]) })

type Named = Pick<Tool, "name" | "group">

/** Whether a list holds the tool's name or its group. */
export const namesTool = (names: readonly string[], tool: Named): boolean =>
  names.includes(tool.name) || names.includes(tool.group)

export const admits = (access: ToolAccess, tool: Named): boolean =>
  access.kind === "all" || namesTool(access.names, tool)

/**
 * A stored whitelist: a JSON array of names and groups. Only an honest null means the whole registry; what
 * cannot be read admits nothing, for "unknown" must never open what somebody closed.
 */
export function readAccess(json: string | null): ToolAccess {
  if (json === null) return ALL_TOOLS
  const parsed = tryParseJson(json)?.value
  if (!Array.isArray(parsed)) return NO_TOOLS
  const names = parsed.filter((name): name is string => typeof name === "string")
  return names.length === parsed.length ? { kind: "only", names } : NO_TOOLS
}
