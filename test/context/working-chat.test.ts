/** A long working chat, small enough for the suite; `bun run bench context working-chat` runs it over 500 turns. */
import { expect, test } from "bun:test"
import { NOTE, PLAN_TASK, runWorkingChat, TASK } from "../support/working-chat.ts"

test("over many turns with large outputs no request leaves the window or is invalid, folds come one at a time, and task, pinned note and open plan stay", async () => {
  const contextWindow = 36_000
  const report = await runWorkingChat({ turns: 40, contextWindow })
  expect(report.faults).toEqual([])
  expect(report.largestTokens).toBeLessThan(contextWindow)
  expect(report.folds).toBeGreaterThan(1)
  expect(report.mostFolds).toBeLessThanOrEqual(2)
  const last = JSON.stringify(report.last)
  for (const lasting of [TASK, NOTE, PLAN_TASK]) expect(last).toContain(lasting)
})
