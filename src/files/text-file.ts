/**
 * A text file as what it says and how it is written: encoding, byte order mark and line ends. What is changed in
 * the text leaves the rest of the file as it was, to the byte.
 */
import type { Encoding } from "./encoding.ts"
import { encodingNamed, mustHave, UTF_8 } from "./encodings.ts"
import { guessEncoding } from "./guess-encoding.ts"

export interface TextFormat {
  encoding: Encoding
  /** It begins with a byte order mark. */
  bom: boolean
  /** Nothing in the file says which encoding it is: it is the likeliest one. */
  guessed: boolean
}

export interface TextFile extends TextFormat {
  /** With the line ends of the file, without its byte order mark. */
  text: string
  /** Of most lines. */
  eol: "\n" | "\r\n"
}

export class NotText extends Error {
  override readonly name = "NotText"
}

const BOM = "\ufeff"

/** The longest first, for one begins like another. */
const MARKS = [
  { name: "utf-32le", bytes: [0xff, 0xfe, 0, 0] },
  { name: "utf-32be", bytes: [0, 0, 0xfe, 0xff] },
  { name: "utf-8", bytes: [0xef, 0xbb, 0xbf] },
  { name: "utf-16le", bytes: [0xff, 0xfe] },
  { name: "utf-16be", bytes: [0xfe, 0xff] },
]

/**
 * From the start of a file, or all of it.
 * @param named the encoding that somebody says it is in
 * @throws NotText for a binary file, or a name that is no encoding
 */
export async function formatOf(
  start: Uint8Array,
  { named, complete }: { named?: string | undefined; complete: boolean },
): Promise<TextFormat> {
  const mark = MARKS.find(({ bytes }) => bytes.every((byte, at) => start[at] === byte))
  if (named !== undefined) {
    const encoding = await encodingNamed(named)
    if (!encoding) throw new NotText(`there is no encoding ${named}; say utf-8, windows-1251 …`)
    return { encoding, bom: mark?.name === encoding.name, guessed: false }
  }
  if (mark) return { encoding: await mustHave(mark.name), bom: true, guessed: false }
  if (isUtf8(start, complete) && !hasControls(start)) {
    return { encoding: UTF_8, bom: false, guessed: false }
  }
  const guess = await guessEncoding(start)
  if (!guess) throw new NotText("it is not text")
  return { encoding: guess, bom: false, guessed: true }
}

/** @throws NotText as `formatOf` does */
export async function readText(bytes: Uint8Array, named?: string): Promise<TextFile> {
  const format = await formatOf(bytes, { named, complete: true })
  const decoded = format.encoding.decode(bytes)
  const text = format.bom && decoded.startsWith(BOM) ? decoded.slice(BOM.length) : decoded
  return { ...format, text, eol: lineEndOf(text) }
}

/**
 * The bytes of a text as it stands, line ends included.
 * @throws NotText when the encoding lacks a character
 */
export const writeText = (
  text: string,
  { encoding, bom }: Omit<TextFormat, "guessed">,
): Uint8Array => encodeExactly(bom ? BOM + text : text, encoding, "; write the file anew as utf-8")

/** @throws NotText when the encoding lacks a character, with a hint what to do */
export function encodeExactly(text: string, encoding: Encoding, hint = ""): Uint8Array {
  const bytes = encoding.encode(text)
  if (encoding.decode(bytes) === text) return bytes
  const lacking = [...text].find(
    (character) => encoding.decode(encoding.encode(character)) !== character,
  )
  const which = lacking === undefined ? "" : ` ${lacking} (U+${hex(lacking)})`
  throw new NotText(`${encoding.name} has no character${which}${hint}`)
}

const LOSSY = "its encoding cannot be told for sure; change it with write_hex"

/**
 * A text that can be changed in a place and written again: UTF-8 whatever else it holds, and other encodings
 * where nothing is lost on the way.
 * @throws NotText
 */
export async function losslessText(bytes: Uint8Array): Promise<TextFile> {
  const plain = asUtf8(bytes)
  if (plain !== undefined) {
    const bom = plain.startsWith(BOM)
    const text = bom ? plain.slice(BOM.length) : plain
    return { encoding: UTF_8, bom, guessed: false, text, eol: lineEndOf(text) }
  }
  const file = await readText(bytes)
  if (!isLossless(bytes, file)) throw new NotText(LOSSY)
  return file
}

function asUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** Whether nothing is lost when the text is written again. */
export const isLossless = (bytes: Uint8Array, { text, encoding, bom }: TextFile): boolean =>
  Buffer.from(encoding.encode(bom ? BOM + text : text)).equals(bytes)

const hex = (character: string): string =>
  character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")

function lineEndOf(text: string): "\n" | "\r\n" {
  let [lines, pairs] = [0, 0]
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) {
    lines++
    if (text[at - 1] === "\r") pairs++
  }
  return pairs * 2 > lines ? "\r\n" : "\n"
}

const UTF8_TRAIL_MAX = 3

/** A start that was cut may end within a character. */
function isUtf8(bytes: Uint8Array, complete: boolean): boolean {
  const cuts = complete ? [0] : [0, 1, 2, UTF8_TRAIL_MAX]
  return cuts.some((cut) => isWholeUtf8(bytes.subarray(0, Math.max(0, bytes.length - cut))))
}

const isWholeUtf8 = (bytes: Uint8Array): boolean => asUtf8(bytes) !== undefined

/** Bytes that no text holds: control characters other than white space, backspace and escape. */
export const hasControls = (bytes: Uint8Array): boolean =>
  CONTROLS.test(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1"))

// As text: a pattern runs in the machine's own code, many times faster than a function for each byte.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROLS = /[\0-\x07\x0e-\x1a\x1c-\x1f\x7f]/
