/** The tools of the family `memory`, run as a turn runs them. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { parseJson } from "../../src/lib/json.ts"
import { memoryTools } from "../../src/memory/tools.ts"
import type { TurnIdentity } from "../../src/tools/tool.ts"
import { guestIdentity, masterIdentity, reachTurn, runTool } from "../support/tools.ts"
import { DAY_MS, type MemoryRig, memoryRig } from "./rig.ts"

let rig: MemoryRig
beforeEach(() => {
  rig = memoryRig()
})
afterEach(() => rig.dispose())

const outside = masterIdentity({ trusted: false })

async function run(name: string, input: object, identity: TurnIdentity = masterIdentity()) {
  const tool = memoryTools(rig.memories).find((one) => one.name === name)!
  const { output } = await runTool(tool, input, { turn: reachTurn({ identity }) })
  return output
}

test("what the model is shown of them", () => {
  const shown = memoryTools(rig.memories).map(({ name, description, input, gates, traits }) => {
    return { name, description, input, gates, traits }
  })
  // As it goes over the wire: the checker of arguments leaves hidden marks in a schema.
  expect(parseJson(JSON.stringify(shown))).toMatchSnapshot()
  expect(JSON.stringify(shown).length).toBeLessThan(4000)
})

test("TMEM-9: kinds and importance are explained by the schema of memory_save", () => {
  const { input } = memoryTools(rig.memories).find(({ name }) => name === "memory_save")!
  const { kind, importance } = input.properties as Record<string, { description: string }>
  expect(kind!.description).toMatch(/core: .*fact: .*event: /)
  expect(importance!.description).toMatch(/1 .*3 .*5 /)
})

describe("memory_save", () => {
  test("TMEM-1 TMEM-11: stores, and shows what stands near as lines of the usual form", async () => {
    await run("memory_save", { content: "Anna lives in Berlin", kind: "core", importance: 4 })
    rig.clock.advance(400 * DAY_MS)
    expect(await run("memory_save", { content: "Anna lives in Lisbon now" })).toBe(
      [
        "saved: 2 | fact | now | 3 | Anna lives in Lisbon now",
        "Near it; correct or forget what no longer holds:",
        "1 | core | 1y | 4 | Anna lives in Berlin",
      ].join("\n"),
    )
    expect(rig.memories.get(2, masterIdentity()).source).toBe("chat:chat-1")
  })

  test("TMEM-2: what is known is reinforced", async () => {
    await run("memory_save", { content: "Anna lives in Berlin" })
    expect(await run("memory_save", { content: "Anna lives in Berlin!" })).toBe(
      "reinforced: 1 | fact | now | 3 | Anna lives in Berlin",
    )
    expect(rig.memories.count()).toBe(1)
  })

  test("is the master's alone", async () => {
    expect(await run("memory_save", { content: "x y z" }, guestIdentity())).toContain("master")
    expect(rig.memories.count()).toBe(0)
  })
})

describe("memory_search", () => {
  test("TMEM-3: finds, reinforces, never gives core nor, elsewhere, what is private", async () => {
    await rig.save("Anna plays the violin", { kind: "core" })
    await rig.save("Anna has a violin teacher")
    await rig.save("Anna paid the violin with a loan", { private: true })
    const home = await run("memory_search", { query: "violin" })
    expect(home).toContain("teacher")
    expect(home).toContain("loan")
    expect(home).not.toContain("plays")
    expect(rig.memories.get(2, masterIdentity()).hits).toBe(1)
    expect(await run("memory_search", { query: "violin" }, guestIdentity())).not.toMatch(
      /loan|withheld/,
    )
    const away = await run("memory_search", { query: "violin" }, outside)
    expect(away).not.toContain("loan")
    expect(away).toContain("withheld")
  })

  test("says when nothing is found", async () => {
    expect(await run("memory_search", { query: "violin" })).toBe(
      "nothing is remembered about violin",
    )
  })
})

describe("memory_list", () => {
  test("TMEM-4: filters by kind and by age, fifty a page", async () => {
    for (let i = 1; i <= 60; i++) await rig.save(`old event ${i}`, { kind: "event", dedup: false })
    rig.clock.advance(10 * DAY_MS)
    await rig.save("a fresh fact")
    expect((await run("memory_list", { since_days: 3 })).split("\n")).toHaveLength(2)
    const first = (await run("memory_list", { kind: "event" })).split("\n")
    expect(first).toHaveLength(52)
    expect(first.at(-1)).toBe("(more with before: 11)")
    const second = (await run("memory_list", { kind: "event", before: 11 })).split("\n")
    expect([second.length, second.at(-1)]).toEqual([11, "1 | event | 10d | 3 | old event 1"])
  })

  test("is closed in an untrusted place, for the master too", async () => {
    await rig.save("Anna plays the violin")
    expect(await run("memory_list", {}, outside)).not.toContain("violin")
  })

  test("TMEM-5: its text is never cut in the middle", () => {
    const list = memoryTools(rig.memories).find(({ name }) => name === "memory_list")!
    expect(list.traits.uncapped).toBe(true)
  })
})

test("TMEM-6: memory_update corrects words, kind, importance and privacy", async () => {
  await rig.save("Anna plays the violin", { kind: "core" })
  rig.clock.advance(DAY_MS)
  const change = {
    id: 1,
    content: "Anna plays the viola",
    kind: "fact",
    importance: 2,
    private: true,
  }
  expect(await run("memory_update", change)).toBe(
    "updated: 1 | fact | now | 2 | Anna plays the viola",
  )
  expect(await rig.found("viola")).toEqual(["Anna plays the viola"])
  expect(await rig.found("violin lessons")).toEqual([])
  expect(await run("memory_update", { id: 1 })).toContain("nothing to change")
})

test("TMEM-7: memory_forget moves a record to the archive, from where the owner brings it back", async () => {
  await rig.save("Anna plays the violin")
  expect(await run("memory_forget", { id: 1, reason: "she stopped" })).toStartWith("forgotten: 1 |")
  expect(await rig.found("violin")).toEqual([])
  expect(rig.memories.archived({ limit: 10, offset: 0 })).toMatchObject([
    { id: 1, archived_by: "tool", reason: "she stopped", content: "Anna plays the violin" },
  ])
  rig.memories.restore(1)
  expect(await rig.found("violin")).toEqual(["Anna plays the violin"])
})

test("a private record is as absent elsewhere as one that never was", async () => {
  await rig.save("Anna has debts", { private: true })
  for (const [name, input] of [
    ["memory_update", { id: 1, importance: 5 }],
    ["memory_forget", { id: 1 }],
  ] as const) {
    const private_ = await run(name, input, outside)
    const never = await run(name, { ...input, id: 99 }, outside)
    expect(private_).toBe(never.replace("99", "1"))
  }
  expect(rig.memories.get(1, masterIdentity())).toMatchObject({ importance: 3 })
})
