/** Reading parts of an open file of this machine. */
import type { FileHandle } from "node:fs/promises"

/** Its size, and what changes with every write to it. */
export async function factsOf(file: FileHandle): Promise<{ size: number; stamp: string }> {
  const { ino, size, mtimeNs, ctimeNs } = await file.stat({ bigint: true })
  return { size: Number(size), stamp: [ino, size, mtimeNs, ctimeNs].join(":") }
}

/** Fills the buffer as far as the file reaches. */
export async function readFully(
  file: FileHandle,
  into: Uint8Array,
  offset: number,
): Promise<Uint8Array> {
  let filled = 0
  while (filled < into.length) {
    const { bytesRead } = await file.read(into, filled, into.length - filled, offset + filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return into.subarray(0, filled)
}
