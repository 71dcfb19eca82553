/** Who speaks in a line of a conversation: `Anna: hello`, also behind a date: `8 May, 2023: Anna: hello`. */
import { stems } from "../lib/stems.ts"

const WITHIN_CHARS = 120

const LINE = /(?:^|: )(\p{Lu}[\p{L}\p{M}.'-]*(?: \p{Lu}[\p{L}\p{M}.'-]*){0,2}): /u

/** The stems of the name; undefined when the text is no such line. */
export function speakerOf(content: string): string | undefined {
  const [, name] = LINE.exec(content.slice(0, WITHIN_CHARS)) ?? []
  return (name && stems(name).join(" ")) || undefined
}
