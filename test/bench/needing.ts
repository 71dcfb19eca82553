/** What a benchmark needs beside the repository. */
import type { Bench } from "./bench.ts"

/** A benchmark whose parts are absent says which instead of breaking. */
export const needing = (reasons: (() => string | undefined)[], bench: Bench): Bench => ({
  name: bench.name,
  run: async (context) => {
    const note = reasons.map((reason) => reason()).find((reason) => reason !== undefined)
    if (note === undefined) return bench.run(context)
    return [{ figure: bench.name, measured: undefined, unit: "", note }]
  },
})
