/** Bytes of a page to text, by what the server, the bytes or the page itself say about the encoding. */

/** A page names its encoding within so many bytes, https://html.spec.whatwg.org/#concept-encoding-sniffing. */
const SNIFFED_BYTES = 1024

export function decodePage(body: Uint8Array, contentType: string): string {
  const decoder =
    decoderFor(bomOf(body)) ??
    decoderFor(charsetOf(contentType)) ??
    decoderFor(declaredIn(body)) ??
    new TextDecoder(guessOf(body))
  return decoder.decode(body)
}

function bomOf(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return "utf-8"
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le"
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be"
  return undefined
}

const charsetOf = (contentType: string): string | undefined =>
  /charset\s*=\s*["']?([\w.:-]+)/i.exec(contentType)?.[1]

function declaredIn(bytes: Uint8Array): string | undefined {
  const start = new TextDecoder("latin1").decode(bytes.subarray(0, SNIFFED_BYTES))
  const meta = /<meta\b[^>]*charset\s*=\s*["']?([\w.:-]+)/i.exec(start)?.[1]
  const xml = /^<\?xml\b[^>]*encoding\s*=\s*["']([\w.:-]+)/i.exec(start)?.[1]
  const declared = meta ?? xml
  // A page whose letters could be read that far is not in UTF-16.
  return declared && /^utf-?16/i.test(declared) ? "utf-8" : declared
}

/** Without a word about it: UTF-8 where that fits, else Cyrillic or western letters by how they stand. */
function guessOf(bytes: Uint8Array) {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true })
    return "utf-8"
  } catch {
    return singleByteOf(bytes.subarray(0, GUESSED_BYTES))
  }
}

const GUESSED_BYTES = 65_536
/** Letters beyond ASCII stand alone in western words, and side by side in Cyrillic ones. */
const CYRILLIC_PAIRS = 0.6

function singleByteOf(bytes: Uint8Array) {
  let letters = 0
  let pairs = 0
  let upperHalf = 0
  for (const [at, byte] of bytes.entries()) {
    if (byte < 0xc0) continue
    letters++
    if ((bytes[at - 1] ?? 0) >= 0xc0) pairs++
    if (byte >= 0xe0) upperHalf++
  }
  if (pairs < letters * CYRILLIC_PAIRS) return "windows-1252"
  // Small letters are most of a text: here they are above 0xe0, in KOI8 below.
  return upperHalf > letters / 2 ? "windows-1251" : "koi8-u"
}

/** Names that servers use beside those of https://encoding.spec.whatwg.org/#names-and-labels. */
const ALIASES: Record<string, string> = {
  cp949: "euc-kr",
  cp932: "shift_jis",
  cp936: "gbk",
  cp950: "big5",
  mac_cyrillic: "x-mac-cyrillic",
  maccyrillic: "x-mac-cyrillic",
}

/** Undefined for no name, and for one that nobody knows. */
function decoderFor(label: string | undefined): TextDecoder | undefined {
  if (label === undefined) return undefined
  const name = ALIASES[label.toLowerCase()] ?? label
  try {
    return new TextDecoder(name as ConstructorParameters<typeof TextDecoder>[0])
  } catch {
    return undefined
  }
}
