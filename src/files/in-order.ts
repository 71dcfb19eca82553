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
  for (const [at, one] of list.entries()) {
    try {
      signal.throwIfAborted()
      landed.push(await write(one))
    } catch (error) {
      if (list.length === 1) throw error
      throw new ToolFailure(
        [
          `Failed: ${errorText(error)}`,
          landed.length > 0 ? `Landed:\n${landed.join("\n")}` : "Nothing landed.",
          ...notTried(list.slice(at + 1).map(nameOf)),
        ].join("\n"),
      )
    }
  }
  return landed.join("\n")
}

const notTried = (names: readonly string[]): string[] =>
  names.length > 0 ? [`Not tried: ${names.join(", ")}`] : []
