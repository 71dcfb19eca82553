/** Bytes of a page to text, by what the server, the bytes or the page itself say about the encoding. */

/** A page names its encoding within so many bytes, https://html.spec.whatwg.org/#concept-encoding-sniffing. */
const SNIFFED_BYTES = 1024

export function decodePage(body: Uint8Array, contentType: string): string {
  const label = bomOf(body) ?? charsetOf(contentType) ?? declaredIn(body) ?? guessOf(body)
  return decoderFor(label).decode(body)
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

/** Without a word about it: UTF-8 where that fits, else what browsers take for western pages. */
function guessOf(bytes: Uint8Array): string {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true })
    return "utf-8"
  } catch {
    return "windows-1252"
  }
}

function decoderFor(label: string): TextDecoder {
  try {
    return new TextDecoder(label as ConstructorParameters<typeof TextDecoder>[0])
  } catch {
    // A name that nobody knows.
    return new TextDecoder()
  }
}
