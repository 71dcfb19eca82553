/** Bytes as people write them: hex strings in, a dump out. */
import type { StreamDecoder } from "./encoding.ts"

const ROW_BYTES = 16
const OFFSET_DIGITS = 8

/**
 * Bytes of a hex string, however its digits are grouped: `48 65`, `4865`, `0x48,0x65`, `\x48\x65`.
 * @throws Error that quotes what is no hex
 */
export function bytesOfHex(hex: string): Uint8Array<ArrayBuffer> {
  const digits = hex.replaceAll(/0x|\\x|[\s,;:_-]/gi, "")
  const strange = /[^0-9a-f]/i.exec(digits)
  if (strange) throw new Error(`${JSON.stringify(strange[0])} is no hex digit; write 48 65 6c`)
  if (digits.length % 2 !== 0) {
    throw new Error(`a byte has two hex digits, and these are ${digits.length}: write 0a, not a`)
  }
  return Uint8Array.fromHex(digits)
}

/** A row of a dump and how many bytes it shows. */
export interface DumpRow {
  text: string
  bytes: number
}

/** Rows of sixteen bytes: where they stand, the bytes, and what they say. */
export function dumpRows(
  bytes: Uint8Array,
  { offset, decoder }: { offset: number; decoder: StreamDecoder | undefined },
): DumpRow[] {
  const rows: DumpRow[] = []
  for (let at = 0; at < bytes.length; at += ROW_BYTES) {
    const row = bytes.subarray(at, at + ROW_BYTES)
    const text = decoder
      ? decoder.write(row, at + ROW_BYTES >= bytes.length).replaceAll(UNSEEN, ".")
      : asciiOf(row)
    rows.push({ text: `${placeOf(offset + at)}  ${columnOf(row)}  |${text}|`, bytes: row.length })
  }
  return rows
}

const UNSEEN = /[\p{C}\p{Zl}\p{Zp}\ufffd]/gu

const placeOf = (offset: number): string => offset.toString(16).padStart(OFFSET_DIGITS, "0")

/** Two groups of eight. */
function columnOf(row: Uint8Array): string {
  const half = ROW_BYTES / 2
  const groups = [row.subarray(0, half), row.subarray(half)]
  return groups
    .map((group) =>
      [...group]
        .map(hexOf)
        .join(" ")
        .padEnd(3 * half - 1),
    )
    .join("  ")
}

const hexOf = (byte: number): string => byte.toString(16).padStart(2, "0")

const asciiOf = (row: Uint8Array): string =>
  String.fromCharCode(...row).replaceAll(/[^\x20-\x7e]/g, ".")
