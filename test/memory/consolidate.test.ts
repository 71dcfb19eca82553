/** What tidying is given to work with. */
import { afterEach, beforeEach, expect, test } from "bun:test"
import { createMockEmbedder } from "../../src/llm/mock-embedder.ts"
import { OWNER } from "../../src/memory/memories.ts"
import { DAY_MS, type MemoryRig, memoryRig } from "./rig.ts"

let rig: MemoryRig
beforeEach(() => {
  rig = memoryRig({ embedder: createMockEmbedder("one") })
})
afterEach(() => rig.dispose())

const merge = (ids: number[], content = "Anna plays the violin and the viola") =>
  rig.memories.merge({
    ...{ ids, content, kind: "fact", importance: 4 },
    reason: { by: "sleep", reason: "they say the same" },
  })

test("a merge keeps the most asked for, sums what they were asked for, and stays private", async () => {
  await rig.load("Anna plays the violin", "Anna has a viola")
  rig.clock.advance(DAY_MS)
  await rig.save("Anna owns an old viola", { private: true, dedup: false })
  for (let i = 0; i < 3; i++)
    await rig.memories.search({ text: "viola", limit: 2, reinforce: true }, OWNER)
  expect(merge([1, 2, 3])).toBe(2)
  expect(rig.memories.get(2, OWNER)).toMatchObject({
    ...{ id: 2, hits: 6, private: true, importance: 4, created_at: "2026-01-05T10:00:00.000Z" },
    ...{ content: "Anna plays the violin and the viola", accessed_at: "2026-01-06T10:00:00.000Z" },
  })
  const gone = rig.memories.archived({ limit: 9, offset: 0 }).map(({ id }) => id)
  expect(gone.sort()).toEqual([1, 3])
  expect(rig.memories.count()).toBe(1)
})

test("a merge that cannot be done changes nothing", async () => {
  await rig.load("Anna plays the violin", "Anna has a viola")
  expect(() => merge([1, 2, 99])).toThrow("no memory with id 99")
  expect(() => merge([1, 1])).toThrow("two records at least")
  expect(rig.memories.count()).toBe(2)
  expect(rig.memories.archived({ limit: 9, offset: 0 })).toEqual([])
})

test("the corpus comes page by page with stems and vectors, and what is settled stays so until it changes", async () => {
  await rig.load("Anna plays the violin", "Boris sells bread", "Carl paints")
  await rig.memories.embedded()
  const [first, second] = rig.memories.corpus(1, 2)
  expect([first!.row.id, second!.row.id]).toEqual([2, 3])
  expect([...first!.stems]).toEqual(["bori", "sell", "bread"])
  expect(first!.vector).toHaveLength(64)
  rig.memories.settle([2], rig.clock.now())
  expect(rig.memories.corpus(1, 1)[0]!.row.consolidated_at).toBe(rig.clock.now())
  rig.memories.update(2, { importance: 5 }, OWNER)
  expect(rig.memories.corpus(1, 1)[0]!.row.consolidated_at).toBeNull()
})
