import { expect, test } from "bun:test"
import fc from "fast-check"
import { bisectRefusal } from "../../src/llm/bisect-refusal.ts"

const find = (parts: string[], bad: string[], maxProbes = 100) =>
  bisectRefusal(parts, async (kept) => !kept.some((part) => bad.includes(part)), { maxProbes })

test("the refused part is found in few probes", async () => {
  const parts = Array.from({ length: 64 }, (_, index) => `part ${index}`)
  const found = await find(parts, ["part 41"])
  expect(found?.culprits).toEqual([41])
  expect(found?.probes).toBeLessThanOrEqual(8)
})

test("all refused parts are found, whatever their places", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.boolean(), { minLength: 1, maxLength: 40 }), async (bad) => {
      fc.pre(bad.includes(true))
      const parts = bad.map((_, index) => String(index))
      const culprits = parts.filter((_, index) => bad[index])
      const found = await find(parts, culprits, 10_000)
      expect(found?.culprits.map(String).toSorted()).toEqual(culprits.toSorted())
    }),
    { numRuns: 50 },
  )
})

test("nothing is blamed when the newest message itself is refused, or the limit comes first", async () => {
  expect(await bisectRefusal(["a", "b"], async () => false, { maxProbes: 10 })).toBeUndefined()
  expect(await find(["a", "b", "c", "d"], ["b", "d"], 3)).toBeUndefined()
})
