/** From exec of `eva-kernel chat` on a running kernel until its whole first frame stands on the terminal. */
import type { Bench } from "../bench.ts"
import { startKernel, tempFolder } from "../kernel-process.ts"
import { median, quantile } from "../statistics.ts"
import { seesFirstPaint, startClient } from "./client.ts"

export const firstPaint: Bench = {
  name: "first-paint",
  run: async ({ quick }) => {
    const samples = quick ? 7 : 25
    using folder = tempFolder()
    await using kernel = await startKernel(folder)
    const times: number[] = []
    // The first one only warms the file caches.
    for (let round = 0; round <= samples; round++) {
      const ms = await execToPaint(folder.path, kernel.url)
      if (round > 0) times.push(ms)
    }
    return [
      {
        figure: "first paint of chat on a running kernel",
        measured: median(times),
        ...{ unit: "ms", goal: { max: 250 } },
        note: `p95 ${quantile(times, 0.95).toFixed(0)} ms`,
      },
    ]
  },
}

async function execToPaint(folder: string, url: string): Promise<number> {
  await using client = startClient(folder, url)
  await seesFirstPaint(client.terminal)
  return performance.now() - client.startedMs
}
