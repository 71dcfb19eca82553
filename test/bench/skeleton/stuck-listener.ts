/** A listener that stops reading: it is dropped, and nobody beside it notices. */
import type { Bench } from "../bench.ts"
import { listen } from "./listeners.ts"

/** 20 MB in six seconds: more than the sockets between hold, so that the kernel itself has to. */
const MODEL = "stamped-c600-p32768"

export const stuckListener: Bench = {
  name: "stuck-listener",
  run: async () => {
    const { p99Ms, fewest, most, dropped } = await listen(MODEL, {
      chats: 1,
      listeners: 8,
      stuck: true,
    })
    return [
      {
        figure: "listeners beside a stuck one, 3.2 MB/s each, p99 added",
        measured: p99Ms,
        ...{ unit: "ms", goal: { max: 12 } },
        note: `${fewest}–${most} deltas each`,
      },
      {
        figure: "stuck listeners that were not dropped",
        measured: dropped ? 0 : 1,
        ...{ unit: "", goal: { max: 0 } },
      },
    ]
  },
}
