/**
 * ISO-2022-KR (RFC 1557): EUC-KR in seven bits. A header line announces it; SO and SI switch between Korean,
 * whose bytes lack their highest bit, and ASCII.
 */
import type { Encoding } from "./encoding.ts"

const HEADER = Buffer.from("\u001b$)C")
const SHIFT_OUT = 0x0e
const SHIFT_IN = 0x0f
const ESCAPE = 0x1b
const NEWLINE = 0x0a
const HIGH_BIT = 0x80

export function createIso2022Kr(eucKr: Encoding): Encoding {
  const decoder = () => {
    let korean = false
    const inner = eucKr.decoder()
    const plain = (bytes: Uint8Array): Uint8Array => {
      const out: number[] = []
      for (let at = 0; at < bytes.length; at++) {
        const byte = bytes[at]!
        if (byte === SHIFT_OUT || byte === SHIFT_IN) korean = byte === SHIFT_OUT
        else if (byte === ESCAPE) at += HEADER.length - 1
        else out.push(korean && byte > 0x20 ? byte | HIGH_BIT : byte)
      }
      return Uint8Array.from(out)
    }
    return { write: (bytes: Uint8Array, last: boolean) => inner.write(plain(bytes), last) }
  }
  return {
    name: "iso-2022-kr",
    bytewise: true,
    decoder,
    decode: (bytes) => decoder().write(bytes, true),
    encode: (text) => encode(eucKr.encode(text)),
  }
}

/** The header opens the text; each line begins in ASCII. */
function encode(eucKr: Uint8Array): Uint8Array {
  const out: number[] = [...HEADER]
  let korean = false
  const shift = (to: boolean): void => {
    if (korean !== to) out.push(to ? SHIFT_OUT : SHIFT_IN)
    korean = to
  }
  for (const byte of eucKr) {
    shift(byte >= HIGH_BIT)
    out.push(byte & ~HIGH_BIT)
    if (byte === NEWLINE) korean = false
  }
  shift(false)
  return Uint8Array.from(out)
}
