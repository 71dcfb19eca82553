/** Five hundred turns of work with large outputs, in windows of three sizes: what leaves, and what lasts. */
import { NOTE, PLAN_TASK, runWorkingChat, TASK } from "../../support/working-chat.ts"
import type { Bench } from "../bench.ts"
import type { Row } from "../report.ts"

const TURNS = { full: 500, quick: 60 }
const WINDOWS = [32_000, 48_000, 128_000]

export const workingChat: Bench = {
  name: "working-chat",
  run: async ({ quick, say }) => {
    const turns = TURNS[quick ? "quick" : "full"]
    const rows: Row[] = []
    for (const contextWindow of WINDOWS) {
      say(`working-chat: ${turns} turns in a window of ${contextWindow} tokens`)
      const report = await runWorkingChat({ turns, contextWindow })
      const { requests, folds, largestTokens, faults, mostFolds, last } = report
      const of = `window ${contextWindow / 1000}k`
      const prompt = JSON.stringify(last)
      const lost = [TASK, NOTE, PLAN_TASK].filter((lasting) => !prompt.includes(lasting)).length
      rows.push(
        {
          figure: `working chat, ${of}: largest request`,
          measured: (100 * largestTokens) / contextWindow,
          unit: "% of the window",
          goal: { max: 100 },
          note: `${turns} turns, ${requests} requests, ${folds} folds`,
        },
        row(`working chat, ${of}: broken turns and invalid requests`, faults.length, 0),
        row(`working chat, ${of}: most folds in one turn`, mostFolds, 2),
        row(`working chat, ${of}: of task, note and plan lost at the end`, lost, 0),
      )
    }
    return rows
  },
}

const row = (figure: string, measured: number, max: number): Row => ({
  ...{ figure, measured, unit: "", goal: { max } },
})
