/** A thousand cancels at any moment of turns that run commands and write files: what is left behind. */
import { cancelAtRandom } from "../../support/random-cancels.ts"
import type { Bench } from "../bench.ts"

export const cancels: Bench = {
  name: "cancels",
  run: async ({ quick }) => {
    const rounds = quick ? 100 : 1000
    const { orphans, unpaired, torn, uncancelled, landed, prevented, processes } =
      await cancelAtRandom(rounds)
    const none = { unit: "", goal: { max: 0 } }
    return [
      {
        figure: `processes left by ${rounds} random cancels`,
        ...{ measured: orphans.length, ...none },
        note: `of ${processes} that were begun`,
      },
      { figure: "calls without their result", measured: unpaired.length, ...none },
      {
        figure: "files neither old nor new, and drafts left",
        ...{ measured: torn.length, ...none },
        note: `${landed} writes had landed, ${prevented} had not`,
      },
      { figure: "turns that did not end as cancelled", measured: uncancelled.length, ...none },
    ]
  },
}
