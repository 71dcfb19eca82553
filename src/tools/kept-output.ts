/**
 * What is kept of a byte stream of any length: its head and its tail. Memory stays flat however much a
 * program prints.
 */

/** How much of the head is looked at to tell text from bytes. */
const SAMPLE_BYTES = 8192
/** Fewer bytes say too little to call them binary. */
const SAMPLE_BYTES_MIN = 32
/** Share of characters no text holds, above which an output counts as binary. */
const BINARY_SHARE = 0.1

export interface KeptOutput {
  push(chunk: Uint8Array): void
  /** Bytes seen, kept or not. */
  readonly totalBytes: number
  /** The bytes are no text in UTF-8. */
  isBinary(): boolean
  /**
   * As text: bytes that are no UTF-8 become U+FFFD, a NUL the visible ␀ (dropping it would glue fields
   * together), and a missing middle is named: `[middle cut: N bytes of M]`.
   */
  text(): string
}

/** Keeps `limitBytes` in all, half of them from the start. */
export function keepOutput(limitBytes: number): KeptOutput {
  const headBytes = Math.ceil(limitBytes / 2)
  const tailBytes = limitBytes - headBytes
  const head: Uint8Array[] = []
  let tail: Uint8Array[] = []
  let headFilled = 0
  let tailFilled = 0
  let totalBytes = 0

  const push = (chunk: Uint8Array): void => {
    totalBytes += chunk.length
    // Copies, for a slice would hold the whole chunk in memory.
    const first = chunk.slice(0, headBytes - headFilled)
    if (first.length > 0) head.push(first)
    headFilled += first.length
    const rest = chunk.slice(Math.max(first.length, chunk.length - tailBytes))
    if (rest.length === 0) return
    tail.push(rest)
    tailFilled += rest.length
    if (tailFilled > 2 * tailBytes) shrink()
  }
  const shrink = (): void => {
    const whole = Buffer.concat(tail)
    tail = [whole.subarray(Math.max(0, whole.length - tailBytes))]
    tailFilled = tail[0]!.length
  }
  const text = (): string => {
    shrink()
    const gone = totalBytes - headFilled - tailFilled
    if (gone === 0) return decode(Buffer.concat([...head, ...tail]))
    const start = decode(dropOpenEnd(Buffer.concat(head)))
    const end = decode(dropOpenStart(Buffer.concat(tail)))
    return `${start}\n[middle cut: ${gone} bytes of ${totalBytes}]\n${end}`
  }
  return {
    push,
    get totalBytes() {
      return totalBytes
    },
    isBinary: () => looksBinary(Buffer.concat(head).subarray(0, SAMPLE_BYTES)),
    text,
  }
}

const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes).replaceAll("\0", "␀")

function looksBinary(sample: Uint8Array): boolean {
  if (sample.length < SAMPLE_BYTES_MIN) return false
  const text = new TextDecoder().decode(dropOpenEnd(sample))
  let foreign = 0
  for (const character of text) {
    const code = character.codePointAt(0)!
    const control = code < 0x20 && !(code >= 0x08 && code <= 0x0d) && code !== 0x1b
    if (control || code === 0xfffd) foreign++
  }
  return foreign > text.length * BINARY_SHARE
}

const isContinuation = (byte: number): boolean => (byte & 0xc0) === 0x80
const UTF8_TRAIL_MAX = 3

/** Without the last character when its bytes are not all there. */
function dropOpenEnd(bytes: Uint8Array): Uint8Array {
  for (let back = 1; back <= UTF8_TRAIL_MAX && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back]!
    if (isContinuation(byte)) continue
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    return length > back ? bytes.subarray(0, bytes.length - back) : bytes
  }
  return bytes
}

/** Without the rest of a character whose start is gone. */
function dropOpenStart(bytes: Uint8Array): Uint8Array {
  let start = 0
  while (start < UTF8_TRAIL_MAX && start < bytes.length && isContinuation(bytes[start]!)) start++
  return bytes.subarray(start)
}
