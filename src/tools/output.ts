/** What a tool said, made fit to be stored: bounded, well-formed, without secrets. */
import { cleanText, cutMiddle, head, tail } from "../lib/text.ts"

export const OUTPUT_LIMITS = {
  /** Characters of one result in the database. What a model is shown of it is cut far shorter. */
  storedChars: 1_048_576,
  /** Characters read past a cut, so that a secret lying across it is still recognised as one. */
  seamChars: 16_384,
} as const

export type Redact = (text: string) => string

/**
 * Cleans and redacts a result and keeps head and tail of one that is too long. The bulk of a huge text is
 * dropped before it is looked at, so cost does not grow with it.
 */
export function storable(output: string, redact: Redact): string {
  const { storedChars, seamChars } = OUTPUT_LIMITS
  const half = storedChars / 2
  const wide = half + seamChars
  if (output.length <= 2 * wide) return cutMiddle(redact(cleanText(output)), storedChars)
  const start = head(redact(cleanText(head(output, wide))), half)
  const end = tail(redact(cleanText(tail(output, wide))), half)
  const gone = output.length - start.length - end.length
  return `${start}\n[middle cut: ${gone} chars of ${output.length}]\n${end}`
}
