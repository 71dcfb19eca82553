/** Several writes of one call: in order, and none behind the first that fails. */
import { errorText } from "../lib/error.ts"
import { ToolFailure } from "../tools/tool.ts"

/**
 * @param write tells in a line what it did
 * @throws ToolFailure that lists what landed and what was not tried
 */
export async function inOrder<T>(
  list: readonly T[],
  {
    nameOf,
    write,
    signal,
  }: {
    nameOf(one: T): string
    write(one: T): Promise<string>
    signal: AbortSignal
  },
): Promise<string> {
  const landed: string[] = []
  const account = (why: string, rest: readonly T[]): ToolFailure =>
    new ToolFailure(
      [
        `Failed: ${why}`,
        landed.length > 0 ? `Landed:\n${landed.join("\n")}` : "Nothing landed.",
        ...notTried(rest.map(nameOf)),
      ].join("\n"),
    )
  for (const [at, one] of list.entries()) {
    if (signal.aborted) throw account("the turn was cancelled", list.slice(at))
    try {
      landed.push(await write(one))
    } catch (error) {
      if (list.length === 1) throw error
      throw account(errorText(error), list.slice(at + 1))
    }
  }
  return landed.join("\n")
}

const notTried = (names: readonly string[]): string[] =>
  names.length > 0 ? [`Not tried: ${names.join(", ")}`] : []
