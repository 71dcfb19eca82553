/** From exec to the first text of the first message that a new kernel is sent. */
import type { Bench } from "../bench.ts"
import { startKernel, tempFolder } from "../kernel-process.ts"
import { openLine } from "../line.ts"
import { median, quantile } from "../statistics.ts"
import { newChat, takeTurn } from "../talk.ts"
import { startUpstream } from "../upstream.ts"

export const firstText: Bench = {
  name: "first-text",
  run: async ({ quick }) => {
    await using upstream = await startUpstream()
    const times: number[] = []
    for (let round = 0; round < (quick ? 7 : 25); round++)
      times.push(await execToText(upstream.url))
    return [
      {
        figure: "exec to first text of a first message",
        measured: median(times),
        ...{ unit: "ms", goal: { max: 90 }, floor: 14, peers: "1,541 / 2,849 / 13,627 ms" },
        note: `p95 ${quantile(times, 0.95).toFixed(0)} ms`,
      },
    ]
  },
}

async function execToText(upstreamUrl: string): Promise<number> {
  using folder = tempFolder()
  await using kernel = await startKernel(folder, upstreamUrl)
  const line = await openLine(kernel.url)
  const { firstDeltaMs } = await takeTurn(line, await newChat(line))
  line.close()
  return firstDeltaMs - kernel.startedMs
}
