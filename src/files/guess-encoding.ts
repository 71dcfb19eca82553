/**
 * Which encoding a text without a mark is likely in: the one in which it reads like a language. A guess is
 * always told as one, and whoever knows better names the encoding.
 */
import type { Encoding } from "./encoding.ts"
import { mustHave } from "./encodings.ts"

const SAMPLE_BYTES = 16_384
/** Share of bytes that are NUL in every other place of a text in UTF-16. */
const WIDE_SHARE = 0.3
/** Characters of a wrong kind that a reading may have. */
const DOUBTFUL_SHARE = 0.02

const MULTI_BYTE = ["shift_jis", "euc-jp", "euc-kr", "big5", "gb18030"]
const SINGLE_BYTE = [
  ...["windows-1251", "koi8-r", "koi8-u", "ibm866", "iso-8859-5", "maccyrillic", "ibm855"],
  ...["windows-1252", "windows-1250", "windows-1254", "windows-1253", "windows-1255"],
  ...["windows-1256", "windows-1257", "windows-874", "macroman", "cp850"],
]

/** Undefined for bytes that are no text. */
export async function guessEncoding(start: Uint8Array): Promise<Encoding | undefined> {
  const sample = start.subarray(0, SAMPLE_BYTES)
  const wide = wideOf(sample)
  if (wide) return mustHave(wide)
  if (isBinary(sample)) return undefined
  let best: { encoding: Encoding; score: number } | undefined
  for (const name of [...MULTI_BYTE, ...SINGLE_BYTE]) {
    const encoding = await mustHave(name)
    const score = likelihood(encoding.decode(sample))
    if (score > (best?.score ?? 0)) best = { encoding, score }
  }
  return best?.encoding ?? mustHave("windows-1252")
}

/** UTF-16 and UTF-32 without a mark: zeros in the same places of most characters. */
function wideOf(bytes: Uint8Array): string | undefined {
  if (bytes.length < 4) return undefined
  const zeros = [0, 0, 0, 0]
  for (const [at, byte] of bytes.entries()) if (byte === 0) zeros[at % 4]!++
  const share = (...places: number[]) =>
    places.every((place) => (zeros[place]! * 4) / bytes.length > WIDE_SHARE)
  const clean = (...places: number[]) =>
    places.every((place) => (zeros[place]! * 4) / bytes.length < WIDE_SHARE / 10)
  if (share(1, 2, 3) && clean(0)) return "utf-32le"
  if (share(0, 1, 2) && clean(3)) return "utf-32be"
  if (share(1, 3) && clean(0, 2)) return "utf-16le"
  return share(0, 2) && clean(1, 3) ? "utf-16be" : undefined
}

/** A NUL, or more control characters than stray ones. ISO-2022 needs ESC, SO and SI. */
function isBinary(bytes: Uint8Array): boolean {
  let controls = 0
  for (const byte of bytes) {
    if (byte === 0) return true
    const isText = byte >= 0x20 || (byte >= 0x08 && byte <= 0x0f) || byte === 0x1b
    if (!isText) controls++
  }
  return controls > bytes.length * DOUBTFUL_SHARE
}

const SCRIPTS = [
  ...[/\p{Script=Latin}/u, /\p{Script=Cyrillic}/u, /\p{Script=Greek}/u, /\p{Script=Hebrew}/u],
  ...[/\p{Script=Arabic}/u, /\p{Script=Thai}/u, /\p{Script=Hangul}/u],
]
/** What texts hold most beside ASCII, by script. */
const COMMON = new Set(
  [
    ...["оеаинтсрвлкмдпуі", "αοιετσνηρπκμλςάίόέ", "יוהלאתרשמבנ", "اليونمرتبعدسفهك"],
    ...["éèàäöüßñóáíçåøæőčšžřýěłąęćżśńğışāēīūėãõ", "านรอกเงมยลวดทสต่้ั"],
    ...[
      "的是不我有在人了中大上个國国這这们們来來到時时一二三和地出為为用以生會会",
      "のにはをたとでしていすかなるもれらがんー",
    ],
    ...["이다는의에을를가고하한은기지로사시아어자도리나서"],
  ].join(""),
)
const FOREIGN = /[\ufffd\ue000-\uf8ff\u0080-\u009f\u2500-\u259f]/u
const NON_ASCII = /[^\0-\u007f]+/gu
const WORDS = /[\p{L}\p{M}]+/gu
const WIDE_LETTER = /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}]/u

/**
 * How much a reading looks like words: letters that are common count, words of several scripts or with capitals
 * inside count against it. Zero for no reading at all.
 */
function likelihood(text: string): number {
  const strange = text.match(NON_ASCII)?.join("") ?? ""
  if (strange.length === 0) return 0
  let score = 0
  for (const character of strange) {
    if (FOREIGN.test(character)) score -= 4
    else if (COMMON.has(character)) score += 2
    else if (WIDE_LETTER.test(character)) score += 1
    else score += /\p{L}|\p{M}/u.test(character) ? 0.5 : -0.5
  }
  for (const [word] of text.matchAll(WORDS)) {
    if (!/[^\0-\u007f]/u.test(word)) continue
    score -= 2 * (word.match(/\p{Ll}\p{Lu}/gu)?.length ?? 0)
    if (SCRIPTS.filter((script) => script.test(word)).length > 1) score -= 3
  }
  return score / strange.length
}
