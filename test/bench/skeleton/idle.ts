/** A kernel that nobody talks to: memory, processor time and wake-ups over half a minute. */
import type { Bench } from "../bench.ts"
import { startKernel, tempFolder } from "../kernel-process.ts"
import { openLine } from "../line.ts"
import { processFigures, whyNoFigures } from "../process-figures.ts"

const WINDOW_SECONDS = 30

export const idle: Bench = {
  name: "idle",
  run: async () => {
    const reason = whyNoFigures()
    if (reason) return [{ figure: "idle", measured: undefined, unit: "", note: reason }]
    using folder = tempFolder()
    await using kernel = await startKernel(folder)
    const line = await openLine(kernel.url)
    await line.request("GET", "/health")
    line.close()
    await Bun.sleep(WINDOW_SECONDS * 1000)
    const before = processFigures(kernel.pid)
    await Bun.sleep(WINDOW_SECONDS * 1000)
    const after = processFigures(kernel.pid)
    const perSecond = (from: number, to: number): number => (to - from) / WINDOW_SECONDS
    return [
      {
        figure: "memory idle at 30 s, resident",
        measured: before.residentMiB,
        ...{ unit: "MiB", goal: { max: 80 }, floor: 27, peers: "155 / 309 / 950 MiB" },
        note: `${before.privateMiB.toFixed(0)} MiB of it private`,
      },
      {
        figure: "CPU over 30 idle seconds, share of a core",
        measured: perSecond(before.cpuMs, after.cpuMs) / 10,
        ...{ unit: "%", goal: { max: 0.1 }, floor: 0, peers: "0 / 1.7 / 1.8 %" },
      },
      {
        figure: "wake-ups of the idle main thread",
        measured: perSecond(before.wakeups, after.wakeups),
        ...{ unit: "/s", goal: { max: 1 }, floor: 0 },
      },
    ]
  },
}
