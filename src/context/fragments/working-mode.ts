/** What holds while a tool set is on: its own words, and the mode of working that it brings. */
import type { Toolset } from "../../schema/toolset.ts"
import narrate from "./narrate.txt" with { type: "text" }

/** Empty without a set. A mode is the master's wish for his own turns and holds in no other. */
export function workingMode(set: Toolset | undefined, isMaster: boolean): string {
  if (!set) return ""
  const lines = [
    `[tool set in force] ${set.name}`,
    set.hint,
    isMaster && set.narrate && narrate.trim(),
  ]
  return lines.filter(Boolean).join("\n")
}
