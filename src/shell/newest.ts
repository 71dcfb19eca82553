/** The newest characters of a byte stream, for whoever looks on while a command runs. */
import { tail } from "../lib/text.ts"

/** As much as one snapshot shows. */
const TAIL_CHARS = 8192
/** No character takes more bytes in UTF-8. */
const CHAR_BYTES_MAX = 4

/** Gives the newest characters after each piece; the bulk of a large piece is not even decoded. */
export function createNewest(): (chunk: Uint8Array) => string {
  const decoder = new TextDecoder()
  let shown = ""
  return (chunk) => {
    const newest = chunk.subarray(Math.max(0, chunk.length - TAIL_CHARS * CHAR_BYTES_MAX))
    shown = tail(shown + decoder.decode(newest, { stream: true }), TAIL_CHARS)
    return shown
  }
}
