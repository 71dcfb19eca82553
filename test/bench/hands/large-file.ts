/** A log of 400 MB: lines in its middle, a hit near its start, and what stays in memory of it. */
import { closeSync, openSync, writeSync } from "node:fs"
import { type FileRig, fileRig } from "../../files/file-rig.ts"
import type { Bench } from "../bench.ts"
import { median } from "../statistics.ts"

const MB = 1_000_000
const LOG_BYTES = 400 * MB
const LINE_BYTES = 100
const LINES = LOG_BYTES / LINE_BYTES
/** Within the first megabyte. */
const NEEDLE_LINE = 9000

export const largeFile: Bench = {
  name: "large-file",
  run: async ({ quick }) => {
    const rounds = quick ? 3 : 15
    const first: number[] = []
    const again: number[] = []
    const cold: number[] = []
    const hit: number[] = []
    const bare = process.memoryUsage.rss()
    let most = 0
    for (let round = 0; round < rounds; round++) {
      // A kernel that has not seen this file before.
      const rig = fileRig()
      try {
        const path = writeLog(rig)
        const needle = { path, pattern: "needle \\d+", max_hits: 1 }
        cold.push(await timed(rig, "find_pattern", needle))
        hit.push(await timed(rig, "find_pattern", needle))
        const middle = { path, offset: LINES / 2, limit: 100 }
        first.push(await timed(rig, "read_file", middle))
        again.push(await timed(rig, "read_file", middle))
        most = Math.max(most, process.memoryUsage.rss())
      } finally {
        rig.close()
      }
    }
    return [
      {
        figure: "100 lines in the middle of a 400 MB log",
        measured: median(first),
        ...{ unit: "ms", goal: { max: 50 } },
        note: `its lines not counted before; ${median(again).toFixed(1)} ms when they are`,
      },
      {
        figure: "a pattern whose hit is in its first megabyte",
        measured: median(hit),
        ...{ unit: "ms", goal: { max: 20 } },
        note: `${median(cold).toFixed(1)} ms with the start of the thread and its engine`,
      },
      {
        figure: "memory that this takes",
        measured: (most - bare) / 2 ** 20,
        ...{ unit: "MiB", goal: { max: 100 } },
      },
    ]
  },
}

async function timed(rig: FileRig, tool: string, input: Record<string, unknown>): Promise<number> {
  const startMs = performance.now()
  const { output, isError } = await rig.call(tool, input)
  const ms = performance.now() - startMs
  if (isError) throw new Error(output)
  return ms
}

function writeLog(rig: FileRig): string {
  const path = rig.at("large.log")
  const file = openSync(path, "w")
  const block = Buffer.from(`${"x".repeat(LINE_BYTES - 1)}\n`.repeat(MB / LINE_BYTES))
  const start = Buffer.from(block)
  start.write("needle 42", NEEDLE_LINE * LINE_BYTES)
  try {
    writeSync(file, start)
    for (let at = 1; at < LOG_BYTES / MB; at++) writeSync(file, block)
  } finally {
    closeSync(file)
  }
  return path
}
