/**
 * The thread behind `scanner.ts`: counts line ends of files of this machine and matches patterns in bytes that
 * are sent to it. It is an entry point of its own in the build.
 */
import { closeSync, openSync, readSync } from "node:fs"
import { errorText } from "../lib/error.ts"
import { createNewlineCounter, type NewlineCounter } from "./count-newlines.ts"
import type { LineSearch } from "./line-search.ts"
import { COUNT_BLOCK_BYTES, type FilePart, type ScanReply, type ScanRequest } from "./scanner.ts"

declare const self: Worker

const searches = new Map<number, LineSearch>()
let counter: NewlineCounter | undefined
/** One request after another: pieces of one search come in order. */
let turn: Promise<void> = Promise.resolve()

self.onmessage = ({ data }: MessageEvent<{ id: number; request: ScanRequest }>) => {
  turn = turn.then(async () => {
    const reply = await answer(data.request).catch(
      (error: unknown): ScanReply => ({ kind: "failed", message: errorText(error) }),
    )
    self.postMessage({ id: data.id, reply })
  })
}

async function answer(request: ScanRequest): Promise<ScanReply> {
  switch (request.kind) {
    case "count":
      return { kind: "counts", counts: countNewlines(request) }
    case "search": {
      // Who only reads files does not wait for the engine.
      const { createLineSearch } = await import("./line-search.ts")
      searches.set(request.search, await createLineSearch(request.query))
      return { kind: "done" }
    }
    case "feed": {
      const search = searches.get(request.search)
      if (!search) throw new Error("the search was given up; start it again")
      return { kind: "found", found: search.feed(request.bytes, request.last) }
    }
    case "drop":
      searches.delete(request.search)
      return { kind: "done" }
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
