/** Cancels at any moment of turns that work. `bun run bench hands cancels` takes a thousand of them. */
import { expect, test } from "bun:test"
import { cancelAtRandom } from "../support/random-cancels.ts"

test("200 cancels at any moment leave no process, no call without its result, and no half-written file", async () => {
  const report = await cancelAtRandom(200)
  const { orphans, unpaired, torn, uncancelled } = report
  expect({ orphans, unpaired, torn, uncancelled }).toEqual({
    ...{ orphans: [], unpaired: [], torn: [], uncancelled: [] },
  })
  // The moments lie on both sides of a write, and commands had begun.
  for (const count of [report.landed, report.prevented, report.processes]) {
    expect(count).toBeGreaterThan(10)
  }
}, 600_000)
