/** Saving: defaults, repetition, contradiction, neighbours. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { OWNER } from "../../src/memory/memories.ts"
import { DAY_MS, MASTER_OUTSIDE, type MemoryRig, memoryRig } from "./rig.ts"

let rig: MemoryRig
beforeEach(() => {
  rig = memoryRig()
})
afterEach(() => rig.dispose())

describe("saving", () => {
  test("a record starts as a fact of importance 3 that is not private", async () => {
    expect(await rig.save("Anna likes jazz")).toEqual({
      ...{ id: 1, kind: "fact", importance: 3, private: false, content: "Anna likes jazz" },
      ...{ source: null, hits: 0, merged: false, neighbours: [] },
      created_at: "2026-01-05T10:00:00.000Z",
      updated_at: "2026-01-05T10:00:00.000Z",
      accessed_at: "2026-01-05T10:00:00.000Z",
    })
  })

  test("MEM-17: what says the same reinforces the record, and the more detailed wording wins", async () => {
    const first = await rig.save("Анна работает врачом в городской больнице")
    rig.clock.advance(DAY_MS)
    const again = await rig.save("Анна работает врачом в большой городской больнице", {
      importance: 4,
    })
    expect(again).toMatchObject({
      ...{ id: first.id, merged: true, hits: 1, importance: 4 },
      content: "Анна работает врачом в большой городской больнице",
      accessed_at: "2026-01-06T10:00:00.000Z",
    })
    const shorter = await rig.save("Анна работает врачом в городской больнице")
    expect(shorter).toMatchObject({
      ...{ id: first.id, merged: true, hits: 2 },
      content: "Анна работает врачом в большой городской больнице",
    })
    expect(rig.memories.count()).toBe(1)
  })

  test("five wordings of one fact leave one record", async () => {
    for (const wording of [
      "The master's cat is called Barsik",
      "The cat of the master is called Barsik",
      "master's cat is called Barsik",
      "The master's cat, is called Barsik!",
      "the master's cats is called Barsik",
    ]) {
      await rig.save(wording)
    }
    expect(rig.memories.count()).toBe(1)
  })

  test("other numbers or a denial are no repetition, and stand beside what they contradict", async () => {
    const old = await rig.save("The appointment with the dentist is on 5 May at 10:30")
    const moved = await rig.save("The appointment with the dentist is on 6 May at 11:45")
    expect(moved.merged).toBe(false)
    expect(moved.neighbours.map(({ id }) => id)).toEqual([old.id])
    await rig.save("The master drinks coffee with milk every morning")
    const denial = await rig.save("The master does not drinks coffee with milk every morning")
    expect(denial.merged).toBe(false)
  })

  test("core takes part in repetition and stands among neighbours", async () => {
    const core = await rig.save("The master lives in Berlin with Anna", { kind: "core" })
    const moved = await rig.save("The master moved: lives in Lisbon with Anna")
    expect(moved.neighbours.map(({ id }) => id)).toEqual([core.id])
    const again = await rig.save("The master lives in Berlin with Anna")
    expect(again).toMatchObject({ id: core.id, merged: true, kind: "core" })
  })

  test("TMEM-1: at most three neighbours are shown", async () => {
    for (const city of ["Paris", "Rome", "Oslo", "Lima", "Cairo"])
      await rig.save(`Travel plan: spring ${city} museum`, { dedup: false })
    const { neighbours } = await rig.save("Travel plan: spring Tokyo gardens")
    expect(neighbours).toHaveLength(3)
  })

  test("an import stores each as it is, with its own time and source", async () => {
    const import1 = { dedup: false, created_at: "2023-05-08T13:56:00Z", source: "locomo/1" }
    const a = await rig.save("Anna: hello there", import1)
    const b = await rig.save("Anna: hello there", import1)
    expect(b).toMatchObject({
      ...{ merged: false, neighbours: [], source: "locomo/1" },
      created_at: "2023-05-08T13:56:00.000Z",
      accessed_at: "2023-05-08T13:56:00.000Z",
    })
    expect(b.id).toBeGreaterThan(a.id)
  })

  test("an empty content is refused", async () => {
    expect(rig.save(" \0 ")).rejects.toThrow("the content is empty")
  })
})

describe("from an untrusted place", () => {
  test("TMEM-10: private records are no neighbours, and saving the same again tells nothing of them", async () => {
    const secret = await rig.save("The master takes medicine against asthma", { private: true })
    const outside = await rig.save("The master takes medicine against asthma", {}, MASTER_OUTSIDE)
    expect(outside).toMatchObject({ merged: false, neighbours: [] })
    expect(outside.id).not.toBe(secret.id)
  })

  test("at home a merge with a private record stays private", async () => {
    const secret = await rig.save("The master takes medicine against asthma", { private: true })
    const again = await rig.save("The master takes new medicine against asthma", {}, OWNER)
    expect(again).toMatchObject({ id: secret.id, merged: true, private: true })
  })
})
