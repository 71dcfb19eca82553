/** A request of a provider's wire in pieces, as its prefix cache reads it. */
import { isObject } from "../../src/lib/json.ts"

/** A request in the order in which it is cached. */
export interface Piece {
  bytes: string
  marked: boolean
}

/** The tools, then the system part, then the blocks of the messages, without the markers they bear. */
export function piecesOf(body: Record<string, unknown>): Piece[] {
  const {
    tools = [],
    system = [],
    messages = [],
  } = body as Record<string, Record<string, unknown>[]>
  const ofMessages = messages.flatMap(({ role, content, ...rest }) => {
    const blocks = Array.isArray(content) ? content : [content]
    return blocks.map((block, index) => piece(block, { role, ...(index === 0 && rest) }))
  })
  return [...tools.map((tool) => piece(tool)), ...system.map((part) => piece(part)), ...ofMessages]
}

function piece(value: unknown, around: object = {}): Piece {
  if (!isObject(value)) return { bytes: JSON.stringify([around, value]), marked: false }
  const { cache_control, ...rest } = value
  return { bytes: JSON.stringify([around, rest]), marked: cache_control !== undefined }
}

export const bytesOf = (pieces: readonly Piece[]): string =>
  pieces.map(({ bytes }) => bytes).join("\n")
/** Up to a marker, that included. */
export const upTo = (pieces: readonly Piece[], marker: number): string =>
  bytesOf(pieces.slice(0, marker + 1))
export const markers = (pieces: readonly Piece[]): number[] =>
  pieces.flatMap(({ marked }, index) => (marked ? [index] : []))
