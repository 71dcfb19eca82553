/** The section of the prompt: what enters it, what falls out, and what is said of that. */
import { afterEach, describe, expect, test } from "bun:test"
import { recallText } from "../../src/memory/section.ts"
import { DAY_MS, GUEST, MASTER_OUTSIDE, type MemoryRig, memoryRig, type RigOptions } from "./rig.ts"

let rig: MemoryRig
const start = (settings: RigOptions["settings"] = {}) => {
  rig = memoryRig({ settings })
}
afterEach(() => rig.dispose())

describe("the section", () => {
  test("MEM-8 MEM-16 PRM-036: core is always there, what fits the message beside it, one line each", async () => {
    start()
    await rig.save("The master is called Igor", { kind: "core", importance: 5 })
    await rig.save("Anna plays the violin\nand the piano", { kind: "event" })
    await rig.save("Boris collects stamps")
    rig.clock.advance(3 * DAY_MS)
    expect(await rig.section("What does Anna play?")).toBe(
      [
        "# Memory",
        "id | kind | age | importance | content",
        "1 | core | 3d | 5 | The master is called Igor",
        "2 | event | 3d | 3 | Anna plays the violin ⏎ and the piano",
      ].join("\n"),
    )
  })

  test("is empty when there is nothing to say", async () => {
    start()
    expect(await rig.section("hello")).toBe("")
    await rig.save("Boris collects stamps")
    expect(await rig.section("hello")).toBe("")
  })

  test("at most memory.top_k records are recalled", async () => {
    start({ topK: 2 })
    for (const what of ["violin", "piano", "drums", "flute"]) await rig.save(`Anna plays ${what}`)
    expect(linesOf(await rig.section("Anna"))).toHaveLength(2)
  })

  test("MEM-11 SEC-13: a turn that is not the master's gets at most memory.public_top_k", async () => {
    start({ publicTopK: 1 })
    for (const what of ["violin", "piano", "drums"]) await rig.save(`Anna plays ${what}`)
    expect(linesOf(await rig.section("Anna", GUEST))).toHaveLength(1)
    expect(await rig.search("Anna", GUEST, 50)).toHaveLength(1)
    expect(linesOf(await rig.section("Anna", MASTER_OUTSIDE))).toHaveLength(3)
  })

  test("MEM-12 MEM-13: the budget counts characters, and core has 60 % of it at most", async () => {
    start({ promptBudget: 1000 })
    for (let i = 0; i < 20; i++)
      await rig.save(`Господин помнит число${i} ${"слово ".repeat(8)}`, {
        ...{ kind: i % 2 ? "core" : "fact", dedup: false },
      })
    const text = await rig.section("число0 число2 число4 число6 число8 число10")
    expect(text.length).toBeLessThanOrEqual(1000)
    expect(text.length).toBeGreaterThan(700)
    const core = linesOf(text).filter((line) => line.includes("| core |"))
    expect(core.join("\n").length).toBeLessThanOrEqual(600)
    expect(linesOf(text).length).toBeGreaterThan(core.length)
  })

  test("MEM-14: the least important core falls out first, of equals the youngest, and it is said", async () => {
    start({ promptBudget: 370 })
    const text = (name: string) => `${name} ${"word ".repeat(9)}`
    await rig.save(text("minor"), { kind: "core", importance: 2, dedup: false })
    await rig.save(text("older"), { kind: "core", importance: 4, dedup: false })
    rig.clock.advance(DAY_MS)
    await rig.save(text("younger"), { kind: "core", importance: 4, dedup: false })
    const section = await rig.section("anything")
    expect(section).toContain("older")
    expect(section).not.toContain("younger")
    expect(section).not.toContain("minor")
    expect(section).toEndWith(
      "(2 core records did not fit into the share of core: fold some into one, or make them facts.)",
    )
  })

  test("MEM-15: a line that does not fit is passed over, and a shorter one behind it still enters", async () => {
    start({ promptBudget: 500 })
    await rig.save(`Anna violin ${"and so on ".repeat(60)}`, { importance: 5 })
    await rig.save("Anna plays chess")
    const section = await rig.section("Anna violin")
    expect(section).toContain("Anna plays chess")
    expect(section).not.toContain("and so on")
  })

  test("MEM-10: the floor does not touch core", async () => {
    start({ recallFloor: 1 })
    await rig.save("The master is called Igor", { kind: "core", importance: 1 })
    await rig.save("Anna plays the violin", { importance: 5 })
    await rig.save("Anna has a cat", { importance: 1 })
    expect(linesOf(await rig.section("Anna violin"))).toHaveLength(2)
  })
})

test("MEM-20 SEC-14 TURN-032: the master outside gets all but the private, and a footnote says so", async () => {
  start()
  await rig.save("Anna plays the violin")
  expect(await rig.section("Anna", MASTER_OUTSIDE)).not.toContain("withheld")
  await rig.save("Anna takes pills against asthma", { private: true })
  await rig.save("The master has debts", { private: true, kind: "core" })
  const outside = await rig.section("Anna pills debts", MASTER_OUTSIDE)
  expect(outside).toContain("violin")
  expect(outside).not.toMatch(/pills|debts/)
  expect(outside).toContain("(Private records are withheld")
  const guest = await rig.section("Anna pills debts", GUEST)
  expect(guest).not.toMatch(/pills|debts|withheld/)
  expect(await rig.section("Anna pills debts")).toMatch(/debts[\s\S]*pills/)
})

test("MEM-25: a turn is reminded by its whole message and the beginnings of those before", () => {
  start()
  const long = "x".repeat(5000)
  const [now, ...before] = recallText(long, [`a${long}`, "b", "c"]).split("\n")
  expect(now).toBe(long)
  expect(before).toEqual([`a${"x".repeat(199)}`, "b"])
})

test("MEM-26: explained, each record that was looked at says why it is there or not", async () => {
  start({ topK: 1 })
  await rig.save("The master is called Igor", { kind: "core" })
  await rig.save("Anna plays the violin")
  await rig.save("Anna has a cat")
  const { section, lines } = await rig.memories.explain("Anna violin", MASTER_OUTSIDE, true)
  expect(section).toBe(await rig.section("Anna violin", MASTER_OUTSIDE))
  expect(lines!.map(({ id, in_prompt, left_out }) => [id, in_prompt, left_out])).toEqual([
    [1, true, null],
    [2, true, null],
    [3, false, expect.stringMatching(/floor|top_k/)],
  ])
  const { score, why } = lines![1]!
  expect(score).toBe(why!.relevance * why!.decay * why!.importance * why!.frequency)
  expect(rig.memories.get(2, { master: true, trusted: true }).hits).toBe(0)
})

const linesOf = (section: string): string[] =>
  section.split("\n").filter((line) => /^\d+ \|/.test(line))
