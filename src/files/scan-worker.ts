/** The thread behind `scanner.ts`: counts line ends of files of this machine. An entry point of its own in the build. */
import { closeSync, openSync, readSync } from "node:fs"
import { errorText } from "../lib/error.ts"
import { createNewlineCounter, type NewlineCounter } from "./count-newlines.ts"
import { COUNT_BLOCK_BYTES, type FilePart, type ScanReply } from "./scanner.ts"

declare const self: Worker

let counter: NewlineCounter | undefined

self.onmessage = ({ data }: MessageEvent<{ id: number; part: FilePart }>) =>
  self.postMessage({ id: data.id, reply: answer(data.part) })

function answer(part: FilePart): ScanReply {
  try {
    return { counts: countNewlines(part) }
  } catch (error) {
    return { failed: errorText(error) }
  }
}

function countNewlines({ path, from, to }: FilePart): Uint32Array {
  counter ??= createNewlineCounter(COUNT_BLOCK_BYTES)
  const counts = new Uint32Array(Math.ceil((to - from) / COUNT_BLOCK_BYTES))
  const file = openSync(path, "r")
  try {
    for (const block of counts.keys()) {
      const at = from + block * COUNT_BLOCK_BYTES
      counts[block] = counter.count(fill(file, counter.buffer, { at, end: to }))
    }
    return counts
  } finally {
    closeSync(file)
  }
}

function fill(file: number, buffer: Uint8Array, { at, end }: { at: number; end: number }): number {
  const wanted = Math.min(buffer.length, end - at)
  let filled = 0
  while (filled < wanted) {
    const read = readSync(file, buffer, filled, wanted - filled, at + filled)
    if (read === 0) break
    filled += read
  }
  return filled
}
