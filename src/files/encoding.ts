/** What an encoding is to whoever reads and writes texts. */

export interface Encoding {
  /** The name that answers show. */
  readonly name: string
  /** The byte 0x0A ends a line and is nothing else. */
  readonly bytewise: boolean
  decode(bytes: Uint8Array): string
  /** Characters that it lacks become something else: compare with `decode`. */
  encode(text: string): Uint8Array
  /** For bytes that come in pieces. */
  decoder(): StreamDecoder
}

export interface StreamDecoder {
  /** `last`: no bytes come after these. */
  write(bytes: Uint8Array, last: boolean): string
}
