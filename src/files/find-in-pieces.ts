/** Looks for bytes in a file of any size, a piece at a time. */
import type { BytesWanted, FoundBytes, Hands } from "./hands.ts"

const SEARCH_PIECE_BYTES = 4 * 1024 * 1024

/** Pieces overlap by what a match could miss between two of them. Matches begin before `end`. */
export async function findInPieces(
  readPiece: Hands["read"],
  path: string,
  { bytes, offset, end, limit, signal }: BytesWanted & { end: number },
): Promise<FoundBytes> {
  const offsets: number[] = []
  let total = offset + 1
  for (
    let at = offset;
    at < Math.min(total, end) && offsets.length < limit;
    at += SEARCH_PIECE_BYTES
  ) {
    signal.throwIfAborted()
    const size = SEARCH_PIECE_BYTES + bytes.length - 1
    const piece = await readPiece(path, { offset: at, size })
    total = piece.total
    const window = Buffer.from(piece.bytes)
    for (let hit = window.indexOf(bytes); hit >= 0; hit = window.indexOf(bytes, hit + 1)) {
      if (hit >= SEARCH_PIECE_BYTES || offsets.length >= limit) break
      offsets.push(at + hit)
    }
  }
  return { total, offsets }
}
