/**
 * Encodings by the names that people and programs give them, to text and back. UTF-8 and UTF-16 come with the
 * runtime; tables of the others are loaded when the first file needs them.
 */
import type { Encoding, StreamDecoder } from "./encoding.ts"
import { createIso2022Kr } from "./iso-2022-kr.ts"

/** Names that neither the runtime nor the tables know. */
const ALIASES: Record<string, string> = {
  utf8: "utf-8",
  utf16: "utf-16le",
  utf16le: "utf-16le",
  utf16be: "utf-16be",
  ucs2: "utf-16le",
  unicode: "utf-16le",
  xmaccyrillic: "maccyrillic",
  macintosh: "macroman",
  ansi: "windows-1252",
}

/** Their line ends are not one byte. */
const WIDE = /^utf-?(?:16|32)/
/** Binary notations that the tables offer beside encodings. */
const NOT_TEXT = new Set(["base64", "hex", "binary", "internal"])

/** Undefined for a name that is no encoding. */
export async function encodingNamed(name: string): Promise<Encoding | undefined> {
  const lower = name.trim().toLowerCase()
  const short = lower.replaceAll(/[^a-z0-9]/g, "")
  const known = ALIASES[short] ?? lower
  if (known === "utf-8") return UTF_8
  if (known === "utf-16le" || known === "utf-16be") return utf16(known)
  if (short === "iso2022kr" || short === "csiso2022kr") {
    return createIso2022Kr(await mustHave("euc-kr"))
  }
  return fromTables(known)
}

/** @throws when the name is wrong, which here is a fault of ours */
export async function mustHave(name: string): Promise<Encoding> {
  const encoding = await encodingNamed(name)
  if (!encoding) throw new Error(`no encoding is named ${name}`)
  return encoding
}

export const UTF_8: Encoding = {
  name: "utf-8",
  bytewise: true,
  decode: (bytes) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes),
  encode: (text) => Buffer.from(text),
  decoder: () => runtimeDecoder("utf-8"),
}

const utf16 = (name: "utf-16le" | "utf-16be"): Encoding => ({
  name,
  bytewise: false,
  decode: (bytes) => new TextDecoder(name, { ignoreBOM: true }).decode(bytes),
  encode: (text) => {
    const bytes = Buffer.from(text, "utf16le")
    return name === "utf-16be" ? bytes.swap16() : bytes
  },
  decoder: () => runtimeDecoder(name),
})

function runtimeDecoder(name: "utf-8" | "utf-16le" | "utf-16be"): StreamDecoder {
  const decoder = new TextDecoder(name, { ignoreBOM: true })
  return { write: (bytes, last) => decoder.decode(bytes, { stream: !last }) }
}

async function fromTables(name: string): Promise<Encoding | undefined> {
  const { default: iconv } = await import("iconv-lite")
  if (NOT_TEXT.has(name) || !iconv.encodingExists(name)) return undefined
  return {
    name,
    bytewise: !WIDE.test(name),
    decode: (bytes) => iconv.decode(Buffer.from(bytes), name, { stripBOM: false }),
    encode: (text) => iconv.encode(text, name),
    decoder: () => {
      const decoder = iconv.getDecoder(name, { stripBOM: false })
      return {
        write: (bytes, last) =>
          decoder.write(Buffer.from(bytes)) + (last ? (decoder.end() ?? "") : ""),
      }
    },
  }
}
