/**
 * A quick look at a stored message: most candidates that the index names hold the groups of the needle, but not
 * the needle. It may say yes for nothing, and must never say no to a match.
 */

/** What JSON writes otherwise than it is, and a mark that may have melted into the character before it. */
const WRITTEN_OTHERWISE = /["\\\p{Cc}]|^\p{M}/u
/** Letters that fold to these, beside those that a regular expression without case knows itself. */
const ALSO: Record<string, string> = { е: "[её]", i: "[iı]" }

/** No letter stands before a word: where JSON writes one there, it writes a line end or the like. */
const BORDER_BEFORE = "(?:(?<![\\p{L}\\p{N}\\p{M}])|(?<=\\\\(?:[bfnrt]|u[0-9a-f]{4})))"
const BORDER_BEHIND = "(?![\\p{L}\\p{N}\\p{M}])"

/** Whether stored JSON may hold this folded text. */
export const mayBeText = (folded: string): MayBeIn => allOf([folded], loose)

/** Whether stored JSON may hold all of these folded words, whole. */
export const mayBeWords = (folded: readonly string[]): MayBeIn =>
  allOf(folded, (word) => `${BORDER_BEFORE}${loose(word)}${BORDER_BEHIND}`)

export type MayBeIn = (json: string) => boolean

function allOf(parts: readonly string[], patternOf: (part: string) => string): MayBeIn {
  const tests = parts
    .filter((part) => !WRITTEN_OTHERWISE.test(part))
    .map((part) => new RegExp(patternOf(part), "iu"))
  return (json) => {
    const text = json.normalize("NFC")
    return tests.every((test) => test.test(text))
  }
}

const loose = (folded: string): string =>
  Array.from(folded, (letter) => ALSO[letter] ?? escaped(letter)).join("")

const escaped = (letter: string): string => letter.replace(/[$()*+./?[\\\]^{|}]/, "\\$&")
