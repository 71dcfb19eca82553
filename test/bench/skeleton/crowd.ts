/** Fifty chats at once, a turn of twenty deltas each, again and again. */
import { join } from "node:path"
import type { Bench } from "../bench.ts"
import { runLoad } from "../child.ts"
import { startKernel, tempFolder } from "../kernel-process.ts"
import { processFigures, whyNoFigures } from "../process-figures.ts"
import { median } from "../statistics.ts"
import { startUpstream } from "../upstream.ts"
import type { CrowdResult, CrowdSettings } from "./load/crowd.ts"

const CHATS = 50
/** A round starts with new chats, so that the history's length is the same for every kernel. */
const TURNS_OF_CHAT = 20
const LOAD = join(import.meta.dir, "load/crowd.ts")

export const crowd: Bench = {
  name: "crowd",
  run: async ({ quick, say }) => {
    await using upstream = await startUpstream()
    using folder = tempFolder()
    await using kernel = await startKernel(folder, upstream.url)
    const readable = whyNoFigures() === undefined
    const cpuMs = (): number => (readable ? processFigures(kernel.pid).cpuMs : 0)
    const settings: CrowdSettings = { url: kernel.url, chats: CHATS, turns: TURNS_OF_CHAT }
    const rounds: (CrowdResult & { cpuMs: number })[] = []
    // The first round warms up.
    for (let round = 0; round <= (quick ? 3 : 7); round++) {
      await fetch(`${upstream.url}/__log`, { method: "DELETE" })
      const before = cpuMs()
      const result = await runLoad<CrowdResult>(LOAD, settings)
      const spent = (cpuMs() - before) / result.turns
      if (round > 0) rounds.push({ ...result, cpuMs: spent })
      say(
        `round ${round}: ${result.turnsPerSecond.toFixed(0)} turns/s, ${spent.toFixed(2)} ms CPU a turn`,
      )
    }
    const middle = (pick: (round: (typeof rounds)[number]) => number) => median(rounds.map(pick))
    const errors = rounds.reduce((sum, round) => sum + round.errors.length, 0)
    return [
      {
        figure: "50 chats at once",
        measured: middle((round) => round.turnsPerSecond),
        ...{ unit: "turns/s", goal: { min: 600 }, floor: 1236, peers: "235 / 6.9 / 4.0 turns/s" },
        note: `median of ${rounds.length} rounds of ${CHATS} × ${TURNS_OF_CHAT} turns`,
      },
      {
        figure: "50 chats at once, p99 first delta",
        measured: middle((round) => round.firstDeltaP99Ms),
        ...{ unit: "ms", goal: { max: 200 }, floor: 59 },
      },
      {
        figure: "50 chats at once, CPU of the kernel a turn",
        measured: readable ? middle((round) => round.cpuMs) : undefined,
        ...{ unit: "ms", goal: { max: 1.6 }, floor: 0.5, note: whyNoFigures() },
      },
      {
        figure: "50 chats at once, peak memory",
        measured: readable ? processFigures(kernel.pid).peakMiB : undefined,
        ...{ unit: "MiB", goal: { max: 150 }, floor: 55, note: whyNoFigures() },
        peers: "8.9 / 2.3 / 2.4 GiB",
      },
      {
        figure: "50 chats at once, errors",
        measured: errors,
        ...{ unit: "", goal: { max: 0 }, floor: 0 },
        note: rounds.flatMap((round) => round.errors)[0],
      },
    ]
  },
}
