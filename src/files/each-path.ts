/** The parameter `path` of tools that take one file or several, and how several are answered. */
import { Type } from "@sinclair/typebox"
import { errorText } from "../lib/error.ts"
import { sections } from "../tools/sections.ts"

export const PATHS_MAX = 20
/** Characters of each file when many are read at once. */
const CHARS_MIN = 1000

export const Path = Type.String({ minLength: 1 })
export const Paths = Type.Union([Path, Type.Array(Path, { minItems: 1, maxItems: PATHS_MAX })])

/**
 * Several files are answered as sections, and one failure is a line of its section. What a short answer leaves
 * is for those behind it.
 */
export async function eachPath(
  path: string | readonly string[],
  maxChars: number,
  read: (path: string, maxChars: number) => Promise<string>,
): Promise<string> {
  if (typeof path === "string") return read(path, maxChars)
  let left = maxChars
  const list: { title: string; content: string }[] = []
  for (const [at, one] of path.entries()) {
    const share = Math.max(CHARS_MIN, Math.floor(left / (path.length - at)))
    const content = await read(one, share).catch((error: unknown) => `failed: ${errorText(error)}`)
    left -= content.length
    list.push({ title: one, content })
  }
  return sections(list)
}
