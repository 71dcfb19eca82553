/** The text that is piped into the program. */
import { KernelError } from "../../lib/error.ts"
import { SEND_LIMITS } from "../../schema/send.ts"

/** After so long without a byte the user is told what is waited for. */
const HINT_MS = 3000
/** No message of the longest allowed text is longer, in UTF-8. */
const BYTES_MAX = SEND_LIMITS.textChars * 3

/**
 * Everything until the end of the input, without its last line break. Throws KernelError("invalid") for
 * more than a message may hold. `hint` is called once when nothing comes.
 */
export async function readStdin(hint: () => void): Promise<string> {
  const decoder = new TextDecoder()
  const timer = setTimeout(hint, HINT_MS)
  let text = ""
  let bytes = 0
  try {
    for await (const piece of Bun.stdin.stream() as unknown as AsyncIterable<Uint8Array>) {
      clearTimeout(timer)
      bytes += piece.byteLength
      if (bytes > BYTES_MAX) {
        const message = `the piped text is longer than the ${SEND_LIMITS.textChars} characters of a message`
        throw new KernelError("invalid", message)
      }
      text += decoder.decode(piece, { stream: true })
    }
  } finally {
    clearTimeout(timer)
  }
  return (text + decoder.decode()).replace(/\r?\n$/, "")
}
