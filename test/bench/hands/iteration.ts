/** What the kernel needs between two requests of a turn: the call taken, run, stored and told, the next one built. */
import type { Bench } from "../bench.ts"
import { startKernel, tempFolder } from "../kernel-process.ts"
import { type Line, openLine } from "../line.ts"
import { median, quantile } from "../statistics.ts"
import { newChat } from "../talk.ts"
import { startUpstream, type Upstream } from "../upstream.ts"

const STEPS = 20
/** In sight in every turn, and nearly nothing is its own work: there is no memory to look through. */
const TOOL = { tool: "memory_search", toolArgs: '{"query":"oak"}' }
const WARM_TURNS = 10

export const iteration: Bench = {
  name: "iteration",
  run: async ({ quick }) => {
    await using upstream = await startUpstream()
    await fetch(`${upstream.url}/__config`, {
      method: "POST",
      body: JSON.stringify(TOOL),
    })
    using folder = tempFolder()
    await using kernel = await startKernel(folder, upstream.url, {
      model: `fake-tools-${STEPS}-c1`,
    })
    const line = await openLine(kernel.url)
    for (let turn = 0; turn < WARM_TURNS; turn++) await takeGaps(line, upstream)
    const turns: number[][] = []
    while (turns.length < (quick ? 10 : 50)) turns.push(await takeGaps(line, upstream))
    line.close()
    const all = turns.flat()
    const ofStep = (step: number) => median(turns.map((gaps) => gaps[step - 1]!))
    return [
      {
        figure: `a tool iteration in a turn of ${STEPS} steps`,
        measured: median(all),
        ...{ unit: "ms", goal: { max: 3 }, floor: 1.5, peers: "8.3 / 143 / 44 ms" },
        note: `${turns.length} turns; p99 ${quantile(all, 0.99).toFixed(1)} ms`,
      },
      {
        figure: `step ${STEPS} of such a turn against step 2`,
        measured: ofStep(STEPS) / ofStep(2),
        ...{ unit: "×", goal: { max: 1.5 } },
        note: `${ofStep(STEPS).toFixed(2)} ms against ${ofStep(2).toFixed(2)} ms`,
      },
    ]
  },
}

/** One turn in a new chat: from the end of each answer of the upstream to the arrival of the next request. */
async function takeGaps(line: Line, upstream: Upstream): Promise<number[]> {
  const chat = await newChat(line)
  await upstream.takeLog()
  const told = await line.request("POST", `/v1/chats/${chat}/messages`, {
    body: { text: "Use your tools.", trusted: true, uncapped_iterations: true },
  })
  // A refused call is no iteration, and much faster.
  if (told.includes(`"is_error":true`)) throw new Error(`${TOOL.tool} did not run`)
  const log = await upstream.takeLog()
  if (log.length !== STEPS + 1) throw new Error(`${log.length} requests for ${STEPS} steps`)
  return log.slice(1).map(({ t }, index) => t - log[index]!.tEnd)
}
