/** Skills: kept instructions, listed by a line, read whole, or carried out by a model of their own. */
import { afterEach, describe, expect, test } from "bun:test"
import { call, offered, type SetRig, sectionOf, setRig } from "../toolsets/set-rig.ts"

let rig: SetRig
afterEach(() => rig.kernel.dispose())

const TEA = {
  name: "tea",
  description: "When somebody wants tea",
  body: "Boil.\n\nWait four minutes.",
}
const anna = (): string =>
  rig.kernel.api.persons.resolve({ source: "telegram", ext_id: "9", name: "Anna" }).id
const guest = () => ({ guest: true, sender: anna() })

describe("a skill", () => {
  test("SKL-01 SKL-02 SKL-04 SKL-05 TSKL-1 TSKL-3 TSKL-4 TSKL-5: is made, listed from the next turn, read whole, changed and removed, without a restart", async () => {
    rig = await setRig()
    const chat = rig.kernel.newChat()
    const made = await rig.play(chat, [call("skill_create", TEA), call("skill", { name: "tea" })])
    expect(made.results.map(({ output }) => output)).toEqual([
      "created: tea (private); listed from the next turn on",
      TEA.body,
    ])
    const { requests } = await rig.play(chat, [])
    expect(sectionOf(requests[0], "[skills]")).toEndWith("\n- tea: When somebody wants tea")
    await rig.play(chat, [call("skill_edit", { name: "tea", body: "Boil twice." })])
    const read = await rig.play(chat, [call("skill", { name: "tea" })])
    expect(read.results[0]!.output).toBe("Boil twice.")
    expect(rig.kernel.api.skills.list()).toMatchObject([
      { name: "tea", description: "When somebody wants tea", model: null, visibility: "private" },
    ])
    await rig.play(chat, [call("skill_delete", { name: "tea" })])
    const gone = await rig.play(chat, [call("skill", { name: "tea" })])
    expect(gone.results[0]).toMatchObject({ is_error: true })
    expect(sectionOf(gone.requests[0], "[skills]")).toBe("")
  })

  test("SKL-03 TSKL-2: one with a model runs there alone: no chat, no tools, and only its result comes back", async () => {
    rig = await setRig()
    const { kernel } = rig
    const chat = kernel.newChat()
    await kernel.turn(chat, "SECRET of the chat")
    const count = { name: "count", description: "Counts", body: "Count the words.", model: "other" }
    const { results } = await rig.play(chat, [
      call("skill_create", count),
      call("skill", { name: "count", input: "one two" }),
    ])
    const asked = kernel.requests.filter(({ model }) => model === "other")
    expect(asked).toHaveLength(1)
    expect(asked[0]!.tools).toEqual([])
    expect(JSON.stringify(asked[0])).toContain("Count the words.\\n\\n== input\\none two")
    expect(JSON.stringify(asked[0])).not.toContain("SECRET")
    expect(results[1]!.output).toBe("Count the words.\n\n== input\none two")
    const wrong = await rig.play(chat, [
      call("skill_create", TEA),
      call("skill", { name: "tea", input: "x" }),
    ])
    expect(wrong.results[1]!.output).toContain("call it without input and follow it")
  })

  test("SKL-06 SKL-16 TSKL-8 CTX-44: its length is checked when it is written, and it is never cut while it is fresh", async () => {
    rig = await setRig()
    const { kernel } = rig
    const chat = kernel.newChat()
    const long = `BEGIN ${"rule ".repeat(3900)}END`
    const { results } = await rig.play(chat, [
      call("skill_create", { ...TEA, body: "x".repeat(20_001) }),
      call("skill_create", { ...TEA, body: long }),
      call("skill_edit", { name: "tea", body: "y".repeat(20_001) }),
    ])
    expect(results[0]!.output).toContain("20001 characters, 20000 are the most")
    expect(results[1]!.is_error).toBe(false)
    expect(results[2]!.is_error).toBe(true)
    // In a chat of its own, which has not heard the text yet.
    const reader = kernel.newChat()
    const { requests } = await rig.play(reader, [call("skill", { name: "tea" })])
    expect(JSON.stringify(requests[1])).toContain(long)
    for (let at = 0; at < 8; at++) await rig.play(reader, [call("person_list")])
    const later = (await rig.play(reader, [])).requests[0]
    expect(JSON.stringify(later)).toContain("[elided: ")
    expect(JSON.stringify(later)).not.toContain(long)
  })

  test("what cannot be a skill is refused with the right form", async () => {
    rig = await setRig()
    const chat = rig.kernel.newChat()
    const bad = async (input: object): Promise<string> =>
      (await rig.play(chat, [call("skill_create", { ...TEA, ...input })])).results[0]!.output
    expect(await bad({ name: "make tea" })).toContain("one word")
    expect(await bad({ body: "  \n" })).toContain("body must hold the instruction")
    expect(await bad({ model: "othr" })).toContain("other")
    await bad({})
    expect(await bad({})).toContain("there already")
    const near = await rig.play(chat, [call("skill", { name: "tee" })])
    expect(near.results[0]!.output).toContain("did you mean tea?")
  })
})

describe("who may use it", () => {
  test("SKL-07 TSKL-6 TSKL-7: a private one is neither listed nor read where others are; one for the surface is there for all", async () => {
    rig = await setRig()
    const chat = rig.kernel.newChat()
    await rig.play(chat, [
      call("skill_create", TEA),
      call("skill_create", { ...TEA, name: "hello", visibility: "surface" }),
    ])
    const inPublic = { anchor: "telegram:1:2", trusted: false }
    for (const place of [guest(), inPublic]) {
      const { requests, results } = await rig.play(
        chat,
        [call("skill", { name: "tea" }), call("skill", { name: "hello" })],
        place,
      )
      expect(sectionOf(requests[0], "[skills]")).toEndWith("\n- hello: When somebody wants tea")
      expect(results[0]!.is_error).toBe(true)
      expect(results[0]!.output).toBe("no skill tea; there are hello")
      expect(results[1]!.output).toBe(TEA.body)
    }
  })

  test("what costs money is not for guests", async () => {
    rig = await setRig()
    const chat = rig.kernel.newChat()
    const paid = { ...TEA, name: "paid", visibility: "surface", model: "other" }
    await rig.play(chat, [call("skill_create", paid)])
    const { requests, results } = await rig.play(chat, [call("skill", { name: "paid" })], guest())
    expect(sectionOf(requests[0], "[skills]")).toBe("")
    expect(results[0]!.is_error).toBe(true)
    expect(rig.kernel.requests.filter(({ model }) => model === "other")).toHaveLength(0)
  })

  test("SKL-05: only the master makes, changes or removes one", async () => {
    rig = await setRig()
    const chat = rig.kernel.newChat()
    const { requests, results } = await rig.play(
      chat,
      [call("skill_create", TEA), call("skill_delete", { name: "tea" })],
      guest(),
    )
    expect(offered(requests[0]).filter((name) => name.startsWith("skill_"))).toEqual([])
    expect(results.every(({ is_error }) => is_error)).toBe(true)
    expect(rig.kernel.api.skills.list()).toEqual([])
  })
})

test("TSKL-10 TSET-26: skills, sets and hidden tools share one budget, and what does not fit is logged and counted", async () => {
  rig = await setRig({
    llm: { models: [{ name: "mock", context_window: 30_000 }, { name: "other" }] },
  })
  const chat = rig.kernel.newChat()
  const makeSkills = (from: number) => ({
    calls: Array.from({ length: 20 }, (_, at) => ({
      name: "skill_create",
      input: {
        ...TEA,
        name: `skill-with-a-long-name-${from + at}`,
        description: "word ".repeat(30),
      },
    })),
  })
  await rig.play(chat, [0, 20, 40, 60].map(makeSkills))
  const { requests } = await rig.play(chat, [], { toolset: "money" })
  const lists = ["[skills]", "[tool sets]", "[hidden tools]"].map((marker) =>
    sectionOf(requests[0], marker),
  )
  expect(lists.every((list) => list !== "")).toBe(true)
  expect(lists.join("\n").length).toBeLessThanOrEqual(30_000 * 0.02 * 4)
  expect(lists[0]).toMatch(/\(and \d+ more\)$/)
})
