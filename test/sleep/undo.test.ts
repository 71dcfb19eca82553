/** A night that is taken back leaves no trace in memory, whatever it did. */
import { expect, test } from "bun:test"
import fc from "fast-check"
import { OWNER } from "../../src/memory/memories.ts"
import { MEMORY_KINDS } from "../../src/schema/memory.ts"
import { blindPlan } from "./blind-plan.ts"
import { DAY_MS, type SleepRig, sleepRig } from "./rig.ts"

const RUNS = 20
const WORDS = ["anna", "violin", "doctor", "berlin", "cat", "скрипка"]

const record = fc.record({
  words: fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 5 }),
  kind: fc.constantFrom(...MEMORY_KINDS),
  private: fc.boolean(),
  importance: fc.integer({ min: 1, max: 5 }),
})

const rowsOf = ({ memories }: SleepRig) =>
  memories.rows().map(({ consolidated_at: _mark, ...row }) => row)

test("whatever a night did, undo brings every record back as it was", async () => {
  let changed = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(record, { minLength: 4, maxLength: 14 }),
      fc.array(fc.nat(1000), { minLength: 40, maxLength: 40 }),
      async (records, draws) => {
        const rig = await sleepRig({
          planner: blindPlan(draws),
          memory: { cluster_jaccard: 0.1 },
          more: { memory: { half_life: "5days" } },
        })
        try {
          for (const { words, ...more } of records) await rig.save(words.join(" "), more)
          await rig.memories.search({ text: "anna", limit: 3, reinforce: true }, OWNER)
          rig.clock.advance(40 * DAY_MS)
          const before = rowsOf(rig)
          const run = await rig.night()
          if (JSON.stringify(rowsOf(rig)) !== JSON.stringify(before)) changed++
          expect(rig.sleep.undo(run.id).skipped).toEqual([])
          const after = rowsOf(rig)
          expect(after).toEqual(before)
        } finally {
          await rig.dispose()
        }
      },
    ),
    { numRuns: RUNS },
  )
  // Most of the nights did something that could be taken back.
  expect(changed).toBeGreaterThan(RUNS / 2)
}, 60_000)

test("a merge that is taken back gives each record its own history, and what was asked for since stays counted", async () => {
  const content = "Anna plays the violin in the old city"
  const rig = await sleepRig({
    planner: ({ phase }) =>
      phase === "cluster" ? [{ op: "merge", ids: [1, 2], content, why: "the same" }] : [],
  })
  try {
    const ask = () => rig.memories.search({ text: content, limit: 2, reinforce: true }, OWNER)
    await rig.save("Anna plays the violin in the city")
    await rig.save(content)
    for (let i = 0; i < 3; i++) await ask()
    rig.clock.advance(3 * DAY_MS)
    const run = await rig.night()
    expect(rig.memories.rows().map(({ id, hits }) => [id, hits])).toEqual([[1, 6]])
    await ask()
    rig.sleep.undo(run.id)
    expect(rig.memories.rows().map(({ id, hits }) => [id, hits])).toEqual([
      [1, 4],
      [2, 3],
    ])
  } finally {
    await rig.dispose()
  }
})
