/**
 * Turns that say the same call again and again, as a model does that cannot find the tool it wants. The
 * third in a row gets a note, and its hidden neighbours are loaded: the same that `tool_load` could bring.
 */
import type { ToolUseBlock } from "../schema/message.ts"
import type { StepSnapshot } from "../tools/snapshot.ts"

/** Identical calls in a row that mark a turn as stuck. */
export const STUCK_CALLS = 3

/** Counts calls as they come; gives how often in a row this one has come now. */
export function createStreak(): (call: ToolUseBlock) => number {
  let last: string | undefined
  let count = 0
  return ({ name, input }) => {
    const key = `${name} ${JSON.stringify(input)}`
    count = key === last ? count + 1 : 1
    last = key
    return count
  }
}

/** Names of hidden tools from the family of this one, all within the rights of the turn. */
export const hiddenNeighbours = (snapshot: StepSnapshot, group: string | undefined): string[] =>
  snapshot.hidden.filter((tool) => tool.group === group).map((tool) => tool.name)

/** Stands below the result of the call. */
export function stuckNote(count: number, loaded: readonly string[]): string {
  const next =
    loaded.length > 0
      ? `Related tools are offered from the next step: ${loaded.join(", ")}.`
      : "Use another tool or other arguments, or say what stands in the way."
  return `[kernel] The same call came ${count} times in a row; it will not answer anything else. ${next}`
}
