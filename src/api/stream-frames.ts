/** Frames of server-sent events as bytes, and the pieces in which they leave. */
import type { Emission } from "../events/bus.ts"

/** Goes to the socket in one piece at most. */
export const CHUNK_BYTES = 64 * 1024

const encoder = new TextEncoder()

/** Keeps the connection and every proxy on the way awake; a client never sees it. */
export const HEARTBEAT_FRAME = encoder.encode(":\n\n")
export const positionFrame = (seq: number) => encoder.encode(`id: ${seq}\n\n`)
export const resetFrame = (seq: number) =>
  encoder.encode(`id: ${seq}\ndata: {"type":"reset","seq":${seq}}\n\n`)

export type FrameOf = (emission: Emission) => Uint8Array

/**
 * Encodes an emission once for all who are told of it, one after another. Only the newest is kept: the log of
 * the bus holds thousands of emissions, and their bytes beside them would double its weight.
 */
export function createFrames(withIds: boolean): FrameOf {
  let newest: Emission | undefined
  let frame = new Uint8Array()
  return (emission) => {
    if (emission === newest) return frame
    newest = emission
    const id = withIds ? `id: ${emission.seq}\n` : ""
    frame = encoder.encode(`${id}data: ${emission.json}\n\n`)
    return frame
  }
}

/** Frames that wait for a client, with their weight. */
export function createFrameQueue() {
  let frames: Uint8Array[] = []
  let bytes = 0
  return {
    bytes: () => bytes,
    isEmpty: () => frames.length === 0,
    push: (frame: Uint8Array): void => {
      frames.push(frame)
      bytes += frame.byteLength
    },
    /** The oldest frames as one piece, up to the size of a chunk; at least one frame. */
    take: (): Uint8Array => {
      let count = 1
      let size = frames[0]!.byteLength
      while (count < frames.length && size + frames[count]!.byteLength <= CHUNK_BYTES) {
        size += frames[count++]!.byteLength
      }
      const taken = frames.splice(0, count)
      bytes -= size
      return taken.length === 1 ? taken[0]! : new Uint8Array(Bun.concatArrayBuffers(taken))
    },
    clear: (): void => {
      frames = []
      bytes = 0
    },
  }
}
