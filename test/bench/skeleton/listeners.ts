/** Two hundred listeners at a hundred deltas a second each: how late a delta is. */
import { join } from "node:path"
import type { Bench } from "../bench.ts"
import { runLoad, startChild } from "../child.ts"
import { startKernel, tempFolder } from "../kernel-process.ts"
import type { Row } from "../report.ts"
import type { ListenResult, ListenSettings } from "./load/listeners.ts"

const LISTENERS = 200
const UPSTREAM = join(import.meta.dir, "stamping-upstream.ts")
const LOAD = join(import.meta.dir, "load/listeners.ts")

/** Runs the load against a kernel whose model is the stamping upstream. */
export async function listen(
  model: string,
  settings: Omit<ListenSettings, "url">,
): Promise<ListenResult> {
  await using upstream = await startChild([process.execPath, UPSTREAM])
  using folder = tempFolder()
  await using kernel = await startKernel(folder, upstream.url, { model })
  return await runLoad<ListenResult>(LOAD, { url: kernel.url, ...settings })
}

export const listeners: Bench = {
  name: "listeners",
  run: async ({ quick }) => {
    const model = `stamped-c${quick ? 500 : 1500}`
    const one = await listen(model, { chats: 1, listeners: LISTENERS - 1, stuck: false })
    const many = await listen(model, { chats: LISTENERS, listeners: 0, stuck: false })
    return [row("of one chat", one), row("of a chat each", many)]
  },
}

const row = (which: string, { p50Ms, p99Ms, fewest, most }: ListenResult): Row => ({
  figure: `200 listeners ${which}, 100 deltas/s each, p99 added`,
  measured: p99Ms,
  ...{ unit: "ms", goal: { max: 12 }, floor: 5.7 },
  note: `p50 ${p50Ms.toFixed(1)} ms; ${fewest}–${most} deltas each`,
})
