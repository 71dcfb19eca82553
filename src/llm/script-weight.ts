/**
 * What a text weighs in tokens by its scripts, before any provider has counted it. Tokenizers spend about as many
 * bytes on a token of English and code everywhere, and very different numbers on other scripts.
 */

/** UTF-8 bytes of one token, by how many bytes a character of the text takes. */
interface BytesPerToken {
  /** Latin letters, digits, signs, spaces. */
  one: number
  /** Cyrillic, Greek, Hebrew, Arabic, accented Latin. */
  two: number
  /** Chinese, Japanese, Korean, Indic and others; characters of four bytes count here, too. */
  three: number
}

/**
 * Measured over the passages of XQuAD in English and Russian, Chinese and Japanese texts and source code (see
 * `bun run bench context token-estimate`): o200k 4.9, 6.7, 3.0 to 4.1 and 4.2; cl100k 4.8, 3.9, 2.0 to 2.9 and 4.3.
 */
const O200K: BytesPerToken = { one: 4.25, two: 6.5, three: 3.4 }
const CL100K: BytesPerToken = { one: 4.25, two: 3.8, three: 2.2 }
/** Vocabularies that nobody can look into: rather too many tokens than too few. */
const UNKNOWN: BytesPerToken = { one: 4.2, two: 4, three: 2.8 }

const FAMILIES: readonly [RegExp, BytesPerToken][] = [
  [/\b(?:gpt-(?:4o|4\.\d|[5-9])|chatgpt|o[1-9])/, O200K],
  [/\bgpt-(?:3\.5|4)\b/, CL100K],
]

const ratesOf = (model: string): BytesPerToken =>
  FAMILIES.find(([name]) => name.test(model))?.[1] ?? UNKNOWN

/** Tokens of a text for a model of this name, as far as its script tells. */
export function scriptTokens(model: string, text: string): number {
  const bytes = Buffer.byteLength(text)
  const rates = ratesOf(model)
  if (bytes === text.length) return bytes / rates.one
  const { one, two, three } = sharesOf(text)
  return bytes * (one / rates.one + two / rates.two + three / rates.three)
}

/** Longer texts are looked at in pieces spread over them: shares hardly differ, and a request may hold megabytes. */
const WHOLE_UNITS = 32_768
const PIECES = 32
const PIECE_UNITS = 512

/** Shares of a text's bytes; they add up to 1. */
function sharesOf(text: string): BytesPerToken {
  const bytes = { one: 0, two: 0, three: 0 }
  if (text.length <= WHOLE_UNITS) count(text, bytes)
  else {
    const step = Math.floor((text.length - PIECE_UNITS) / (PIECES - 1))
    for (let piece = 0; piece < PIECES; piece++) {
      count(text.slice(piece * step, piece * step + PIECE_UNITS), bytes)
    }
  }
  const all = bytes.one + bytes.two + bytes.three
  return { one: bytes.one / all, two: bytes.two / all, three: bytes.three / all }
}

function count(text: string, bytes: BytesPerToken): void {
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit < 0x80) bytes.one++
    else if (unit < 0x800) bytes.two += 2
    // Half of a character of four bytes has two.
    else bytes.three += unit >= 0xd800 && unit <= 0xdfff ? 2 : 3
  }
}
