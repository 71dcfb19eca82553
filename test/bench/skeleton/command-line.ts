/** How long the command line takes to answer without a kernel. */
import type { Bench } from "../bench.ts"
import { BINARY } from "../kernel-process.ts"
import type { Row } from "../report.ts"
import { median, quantile } from "../statistics.ts"

export const commandLine: Bench = {
  name: "command-line",
  run: async ({ quick }) => {
    const rows: Row[] = []
    for (const flag of ["--version", "--help"]) {
      const times: number[] = []
      for (let round = 0; round < (quick ? 10 : 40); round++) times.push(timeOf(flag))
      rows.push({
        figure: flag,
        measured: median(times),
        ...{
          unit: "ms",
          goal: { max: 40 },
          peers: flag === "--version" ? "– / 700 / – ms" : undefined,
        },
        note: `p95 ${quantile(times, 0.95).toFixed(0)} ms`,
      })
    }
    return rows
  },
}

function timeOf(flag: string): number {
  const startedMs = performance.now()
  const { exitCode } = Bun.spawnSync([BINARY, flag])
  const tookMs = performance.now() - startedMs
  if (exitCode !== 0) throw new Error(`${flag} ended with code ${exitCode}`)
  return tookMs
}
