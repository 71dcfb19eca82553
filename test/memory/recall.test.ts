/** Recall: the formula and what it finds. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { OWNER } from "../../src/memory/memories.ts"
import { closenessOf, weightsOf } from "../../src/memory/scoring.ts"
import { DAY_MS, type MemoryRig, memoryRig } from "./rig.ts"

let rig: MemoryRig
beforeEach(() => {
  rig = memoryRig()
})
afterEach(() => rig.dispose())

describe("the formula", () => {
  const fresh = { kind: "fact", importance: 3, hits: 0, accessed_at: 0 } as const

  test("MEM-2 MEM-6: decay halves towards 0.35, four times faster for events; importance is over 3", () => {
    const monthOld = weightsOf(fresh, 30 * DAY_MS, 30 * DAY_MS)
    expect(monthOld).toEqual({ decay: 0.35 + 0.65 / 2, importance: 1, frequency: 1 })
    const event = weightsOf({ ...fresh, kind: "event" }, 7.5 * DAY_MS, 30 * DAY_MS)
    expect(event.decay).toBe(monthOld.decay)
    expect(weightsOf({ ...fresh, importance: 5 }, 0, DAY_MS).importance).toBe(5 / 3)
    expect(weightsOf(fresh, 1e6 * DAY_MS, DAY_MS).decay).toBe(0.35)
  })

  test("frequency grows slowly and stops at 1.5", () => {
    const bonus = (hits: number) => weightsOf({ ...fresh, hits }, 0, DAY_MS).frequency
    expect(bonus(10)).toBeCloseTo(1 + 0.1 * Math.log(11), 10)
    expect(bonus(1e9)).toBe(1.5)
  })

  test("MEM-4: closeness starts at a cosine of 0.4", () => {
    expect([-1, 0.4, 0.7, 1].map(closenessOf)).toEqual([0, 0, expect.closeTo(0.5, 10), 1])
  })

  test("MEM-1: importance is a whole number of 1 to 5, and a score is the product of its parts", async () => {
    await rig.save("Anna plays the violin", { importance: 5, kind: "event" })
    await rig.save("Anna plays chess", { importance: 1 })
    rig.clock.advance(3 * DAY_MS)
    for (const { score, why } of await rig.search("What does Anna play?")) {
      expect(score).toBe(why.relevance * why.decay * why.importance * why.frequency)
    }
  })

  test("MEM-5: age counts from the last access", async () => {
    await rig.save("Anna plays the violin")
    rig.clock.advance(60 * DAY_MS)
    const [old] = await rig.search("violin")
    await rig.memories.search({ text: "violin", limit: 1, reinforce: true }, OWNER)
    const [again] = await rig.search("violin")
    expect(old!.why.decay).toBeCloseTo(0.35 + 0.65 / 4, 10)
    expect(again!.why.decay).toBe(1)
    expect(again!.hits).toBe(1)
  })
})

describe("what is found", () => {
  test("Russian forms and English forms", async () => {
    await rig.load("Анна купила сыну велосипед", "Борис сломал ногу", "Carl adopted two dogs")
    expect(await rig.found("Кому Анна купила велосипеды?")).toEqual(["Анна купила сыну велосипед"])
    expect(await rig.found("Who is adopting a dog?")).toEqual(["Carl adopted two dogs"])
  })

  test("MEM-3: without an embedding model relevance is BM25 with the best as 1", async () => {
    await rig.load("violin lessons on Monday", "violin", "the garden")
    const hits = await rig.search("violin lessons")
    expect(hits.map(({ why }) => why.lexical)[0]).toBe(1)
    expect(hits.every(({ why }) => why.closeness === null && why.relevance <= 1)).toBe(true)
  })

  test("MEM-7: an explicit search reinforces what it found, the prompt does not", async () => {
    const [id] = await rig.load("Anna plays the violin")
    await rig.section("violin")
    expect(rig.memories.get(id!, OWNER).hits).toBe(0)
    await rig.memories.search({ text: "violin", limit: 3, reinforce: true }, OWNER)
    expect(rig.memories.get(id!, OWNER).hits).toBe(1)
  })

  test("core is never in a search", async () => {
    await rig.save("The master plays the violin", { kind: "core" })
    expect(await rig.found("violin")).toEqual([])
  })

  test("an answer is found through the question before it, within one occasion only", async () => {
    const at = (created_at: string, source: string) => ({ created_at, source, dedup: false })
    const noon = "2026-01-05T12:00:00Z"
    await rig.save("Anna: which city does Boris want to visit?", at(noon, "talk"))
    await rig.save("Carl: Lisbon, as soon as he can", at(noon, "talk"))
    await rig.save("Carl: see you", at("2026-01-06T12:00:00Z", "talk"))
    await rig.save("Carl: nothing of this", at(noon, "other"))
    await rig.save("Lisbon is sunny", at(noon, "talk"))
    const hits = await rig.search("Which city does Boris want to visit?")
    expect(hits.map(({ content, why }) => [content, why.context_only])).toEqual([
      ["Anna: which city does Boris want to visit?", false],
      ["Carl: Lisbon, as soon as he can", true],
    ])
  })

  test("what only stands beside a hit does not enter the prompt", async () => {
    const talk = { source: "talk", dedup: false }
    await rig.save("Anna: which city does Boris want to visit?", talk)
    await rig.save("Carl: Lisbon, as soon as he can", talk)
    expect(await rig.section("Which city does Boris want to visit?")).not.toContain("Lisbon")
  })

  test("a line of somebody whom the question names comes before one that speaks to him", async () => {
    await rig.load("Anna: I adopted a puppy, Boris!", "Boris: I adopted a puppy, Anna!")
    expect((await rig.found("What did Boris adopt?"))[0]).toBe("Boris: I adopted a puppy, Anna!")
  })

  test("signs that mean something to the index are words or nothing", async () => {
    await rig.load('a "quoted" NEAR(word) * OR')
    for (const odd of ['"', "NEAR(", "* OR AND", "stems : x", "(((", "^a", "-word"])
      expect(await rig.search(odd)).toBeArray()
    expect(await rig.found("quoted word")).toHaveLength(1)
  })

  test("nothing is found by an empty question or in an empty memory", async () => {
    expect(await rig.found("anything")).toEqual([])
    await rig.load("something")
    expect(await rig.found("?!")).toEqual([])
  })
})

test("MEM-9: what is weaker than the floor beside the best is left out, and 0 leaves all in", async () => {
  const long = "other words here ".repeat(200)
  const fill = async (rig: MemoryRig) => {
    await rig.load("blue violin bow case", `violin ${long}`, ...manyOthers())
    return (await rig.search("blue violin bow case", OWNER, 50)).length
  }
  const all = memoryRig({ settings: { recallFloor: 0 } })
  expect([await fill(rig), await fill(all)]).toEqual([1, 2])
  await all.dispose()
})

const manyOthers = () => Array.from({ length: 20 }, (_, i) => `Record number${i} of something else`)

test("a large corpus is ranked by a thread of its own, with the same result", async () => {
  const threaded = memoryRig({ inlineMax: 0 })
  const fill = async (rig: MemoryRig) => {
    await rig.load("Anna plays the violin", "Boris plays chess", ...manyOthers())
    const first = await rig.search("Who plays the violin?")
    rig.memories.forget(1, { by: "api" })
    await rig.load("Carl plays the violin")
    return [first, await rig.search("Who plays the violin?")]
  }
  expect(await fill(threaded)).toEqual(await fill(rig))
  await threaded.dispose()
})

test("a Russian word that stands nowhere is looked for in Latin letters, as names of products are written", async () => {
  await rig.save("Internet2 joins universities")
  await rig.save("The oak is old")
  const [found] = await rig.search("Что такое Интернет2?")
  expect(found?.content).toBe("Internet2 joins universities")
  expect(await rig.search("Что такое шифоньер?")).toEqual([])
})
