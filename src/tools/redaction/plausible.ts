/** Whether what stands in a secret's place is one, or a placeholder, a variable, a word. */

/** A form whose random part is crossed out. */
export const isCrossedOut = (text: string): boolean => /x{5}|\*{3}|\.{3}|#{4}/i.test(text)

/** What people write where a secret would stand. */
const PLACEHOLDER =
  /x{4}|\*{3}|\.{3}|…|#{4}|fake|dummy|example|sample|placeholder|change[-_]?me|replace[-_]?|redacted|your[-_]|my[-_]?password|insert[-_]|todo|not[-_]?a?[-_]?real|not[-_]a[-_]|put[-_]|_here|abcdefghijklm/i
/** A value that only names what it is. */
const TYPE_NAME =
  /^(?:string|function|object|number|boolean|undefined|null|none|true|false|any|optional)$/i
const OWN_NAME = /^[a-z_ -]*(?:key|token|pass(?:word|wd)?|pwd|secret|credentials?)[a-z_ -]*$/i
/** Filled in later: `${name}`, `{{ name }}`, `$NAME`, `<name>`, `%s`, `%(name)s`. */
const FILLED_IN =
  /\$\{[^{}]*\}|\$\([^()]*\)|\{\{[^{}]*\}\}|\$\{\{[^{}]*\}\}|^\{[\w.]*\}$|\$[A-Za-z_]\w*|<[^<>]*>|%[sdv]|%\(\w+\)s|^\[[A-Za-z_ -]*\]$/g

export const isPlaceholder = (text: string): boolean =>
  PLACEHOLDER.test(text) ||
  OWN_NAME.test(text) ||
  TYPE_NAME.test(text) ||
  isFilledIn(text) ||
  isMonotone(text)

/** Nothing is left beside what is filled in later. */
export const isFilledIn = (text: string): boolean =>
  !/[\p{L}\p{N}]/u.test(text.replace(FILLED_IN, ""))

/** "11111111", "aaaaaaaab". */
const isMonotone = (text: string): boolean => text.length >= 10 && entropyOf(text) < 2

/** Shannon's, in bits a character. */
export function entropyOf(text: string): number {
  const counts = new Map<string, number>()
  for (const char of text) counts.set(char, (counts.get(char) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values())
    bits -= (count / text.length) * Math.log2(count / text.length)
  return bits
}

/** A check of rules: at least so many bits a character. */
export const withEntropy =
  (bits: number) =>
  (text: string): boolean =>
    entropyOf(text) >= bits

/** The parts of a name: words, words in capitals, numbers. */
const HUMPS = /[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/g

/** Reads like a name: words, joined by marks or capitals, with at most one short number in each. */
export const isWordy = (text: string): boolean =>
  /^[\w\s./:@,$-]+$/.test(text) && text.split(/[^A-Za-z0-9]+/).every(isWordyPiece)

function isWordyPiece(piece: string): boolean {
  if (piece === "") return true
  const humps = piece.match(HUMPS) ?? []
  const numbers = humps.filter((hump) => /\d/.test(hump))
  if (numbers.length > 1 || (numbers[0]?.length ?? 0) > 4) return false
  const words = humps.length - numbers.length
  return words === 0 || (piece.length - (numbers[0]?.length ?? 0)) / words >= 3 || piece.length <= 4
}

/** What a weak name may hold: no spaces, no code, no addresses. */
const PLAIN = /^[\w.+/=~:@%|-]+$/

/** Looks made by chance: no words, letters and figures mixed, or figures without an end. */
export function isRandom(text: string, minChars: number): boolean {
  if (text.length < minChars || !PLAIN.test(text) || text.includes("://")) return false
  if (isPlaceholder(text) || isWordy(text)) return false
  if (/^\d+$/.test(text)) return text.length >= 15
  if (!/[A-Za-z]/.test(text)) return false
  if (/\d/.test(text)) return entropyOf(text) >= 2.5
  return text.length >= 20 && /[a-z]/.test(text) && /[A-Z]/.test(text) && entropyOf(text) >= 3.7
}
