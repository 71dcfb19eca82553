/** Whether what stands in a secret's place is one, or a placeholder, a variable, a word. */

/** A form whose random part is crossed out. */
export const isCrossedOut = (text: string): boolean => /x{5}|\*{3}|\.{3}|#{4}/i.test(text)

/** What people write where a secret would stand. */
const PLACEHOLDER =
  /x{4}|\*{3}|\.{3}|…|#{4}|fake|dummy|example|sample|placeholder|change[-_]?me|replace[-_]?|redacted|your[-_]|my[-_]?password|insert[-_]|todo|not[-_]?a?[-_]?real|not[-_]a[-_]|put[-_]|_here|abcdefghijklm/i
/** In a longer text such words come up by chance. */
const PLACEHOLDER_CHARS = 120
/** A value that only names what it is. */
const TYPE_NAME =
  /^(?:string|function|object|number|boolean|undefined|null|none|true|false|any|optional)$/i
const OWN_NAME = /^[a-z_ -]*(?:key|token|pass(?:word|wd)?|pwd|secret|credentials?)[a-z_ -]*$/i
/** Filled in later: `${name}`, `{{ name }}`, `$NAME`, `<name>`, `%s`, `%(name)s`. */
const FILLED_IN =
  /\$\{[^{}]*\}|\$\([^()]*\)|\{\{[^{}]*\}\}|\$\{\{[^{}]*\}\}|^\{[\w.]*\}$|\$[A-Za-z_]\w*|<[^<>]*>|%[sdv]|%\(\w+\)s|^\[[A-Za-z_ -]*\]$/g

export const isPlaceholder = (text: string): boolean =>
  (text.length <= PLACEHOLDER_CHARS && PLACEHOLDER.test(text)) ||
  OWN_NAME.test(text) ||
  TYPE_NAME.test(text) ||
  isFilledIn(text) ||
  isMonotone(text) ||
  TIME_UUID.test(text)

/** Made from a time and a machine (versions 1, 2 and 6), not by chance: it names something and opens nothing. */
const TIME_UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[126][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i

/** Nothing is left beside what is filled in later. */
export const isFilledIn = (text: string): boolean =>
  !/[\p{L}\p{N}]/u.test(text.replace(FILLED_IN, ""))

/** "11111111", "aaaaaaaab". */
const isMonotone = (text: string): boolean => text.length >= 10 && entropyOf(text) < 2

/** More of a text tells nothing new. */
const ENTROPY_CHARS = 128

/** Shannon's, in bits a character. */
export function entropyOf(text: string): number {
  const start = text.slice(0, ENTROPY_CHARS)
  const counts = new Map<string, number>()
  for (const char of start) counts.set(char, (counts.get(char) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values())
    bits -= (count / start.length) * Math.log2(count / start.length)
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
  const bits = bitsOfChance(text)
  return bits !== undefined && !isPlaceholder(text) && !isWordy(text) && entropyOf(text) >= bits
}

/** How many bits a character must bear in a text of these characters; undefined: it cannot be made by chance. */
function bitsOfChance(text: string): number | undefined {
  if (/^\d+$/.test(text)) return text.length >= 15 ? 0 : undefined
  if (/\d/.test(text)) return /[A-Za-z]/.test(text) ? 2.5 : undefined
  return text.length >= 20 && /[a-z]/.test(text) && /[A-Z]/.test(text) ? 3.7 : undefined
}
