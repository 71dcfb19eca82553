/** The mode of working that a set brings, in the words that lists and answers mark it with. */
import type { Toolset } from "../schema/toolset.ts"

/** Behind the description in the list of sets; no shortening takes them away. */
export function modeMarks({ uncapped, narrate, no_brevity, workdir }: Toolset): string[] {
  const marks = [
    uncapped && "no iteration cap",
    narrate && "narrated",
    no_brevity && "at length",
    workdir !== null && `in ${workdir}`,
  ]
  return marks.filter((mark) => mark !== false).map((mark) => `[${mark}]`)
}
