/** What stands in a list of the prompt, skills or tool sets: a name and one line about it. */
import { KernelError } from "../lib/error.ts"
import { cleanText } from "../lib/text.ts"

const NAME = /^[\p{L}\p{N}][\p{L}\p{M}\p{N}_.-]*$/u

/** Throws `invalid` for a name that a model could not repeat without doubt. */
export function checkEntryName(value: string, maxChars: number): string {
  const name = cleanText(value).normalize("NFC").trim()
  if (NAME.test(name) && name.length <= maxChars) return name
  throw new KernelError(
    "invalid",
    `a name is one word of up to ${maxChars} letters, digits, dots, dashes and underscores, not ${JSON.stringify(value)}`,
    { path: "name" },
  )
}

/** On one line, whatever was written. Throws `invalid` when nothing is left. */
export function checkEntryDescription(value: string): string {
  const line = cleanText(value)
    .replaceAll(/[\s\p{Cc}]+/gu, " ")
    .trim()
  if (line !== "") return line
  throw new KernelError("invalid", "description must say in one line what it is for", {
    path: "description",
  })
}
