/** A notebook that has grown too large: how it is rebuilt, and what must not happen to it meanwhile. */
import { afterEach, describe, expect, test } from "bun:test"
import { manualClock } from "../../src/lib/clock.ts"
import type { ModelRequest } from "../../src/llm/provider.ts"
import { plan, recordedLog, type SeenEvent } from "../support/kernel.ts"
import { type NoteRig, noteRig } from "./rig.ts"

let rig: NoteRig
afterEach(() => rig.kernel.dispose())

/** Rebuilt beyond 1000 characters or four notes. */
const SMALL = {
  ...{ compact_at_chars: 1000, compact_at_notes: 4 },
  ...{ compact_target_chars: 600, max_notes: 3 },
}

const wordy = (name: string): string => `${name} ${"lorem ".repeat(60)}`.trim()

function fill(names = ["a", "b", "c", "d"]): void {
  for (const name of names) rig.put(name, wordy(name))
}

const textOf = ({ messages }: ModelRequest): string =>
  messages.flatMap(({ blocks }) => blocks.map((block) => "text" in block && block.text)).join("\n")

const section = (name: string, body: string, about = `about ${name}`): string =>
  `## ${name} | ${about}\n${body}`

const bodies = (): Record<string, string> =>
  Object.fromEntries(rig.notes().map(({ name, body }) => [name, body]))

describe("a notebook over its limits", () => {
  test("NOTE-08 NOTE-39 CFG-102: is rebuilt after the answer and before the end of the turn, and not before", async () => {
    rig = await noteRig({ notes: SMALL, rebuild: () => ({ say: section("a", "A") }) })
    fill(["a", "b"])
    await rig.look()
    expect(rig.rebuilds()).toHaveLength(0)
    fill(["c", "d"])
    const events = await rig.kernel.turn(rig.chat, plan([{ say: "the answer" }]))
    expect(rig.rebuilds()).toHaveLength(1)
    expect(bodies()).toEqual({ a: "A" })
    expect(events.at(-1)).toMatchObject({ type: "done", reason: "done" })
    // The question comes behind the answer of the turn.
    expect(rig.kernel.requests.at(-1)).toBe(rig.rebuilds()[0]!)
  })

  test("NOTE-05 CFG-102: so many notes are over it, too, and the next turn sees what became of them", async () => {
    rig = await noteRig({ notes: SMALL, rebuild: () => ({ say: section("all", "abcde") }) })
    for (const name of ["a", "b", "c", "d", "e"]) rig.put(name, name)
    await rig.look()
    expect(JSON.stringify(await rig.look())).toContain("## all — about all\\n> abcde")
    expect(rig.rebuilds()).toHaveLength(1)
  })

  test("NOTE-40 CFG-099: the chat's own model does it, whatever sums up its history; notes.model may name another", async () => {
    const llm = { summary_model: "other" }
    rig = await noteRig({ notes: SMALL, config: { llm } })
    fill()
    await rig.kernel.turn(rig.chat, "hi")
    expect(rig.rebuilds()[0]!.model).toBe("mock")
    await rig.kernel.dispose()
    rig = await noteRig({ notes: SMALL })
    fill()
    await rig.kernel.turn(rig.chat, { text: "hi", model: "other" })
    expect(rig.rebuilds()[0]!.model).toBe("other")
    await rig.kernel.dispose()
    rig = await noteRig({ notes: { ...SMALL, model: "other" } })
    fill()
    await rig.look()
    expect(rig.rebuilds()[0]!.model).toBe("other")
  })

  test("NOTE-41 CACHE-18: it is one question without tools, thought and cache", async () => {
    rig = await noteRig({
      ...{ notes: SMALL, config: { llm: { prompt_cache: "1h" } } },
      rebuild: () => ({ say: section("a", "A") }),
    })
    fill()
    await rig.look()
    const [question] = rig.rebuilds()
    expect(question).toMatchObject({ tools: [], effort: "off", maxTokens: 1200 })
    expect(question!.cacheTtl).toBeUndefined()
    expect(JSON.stringify(question)).not.toContain("cacheMark")
    expect(question!.messages).toHaveLength(1)
  })

  test("NOTE-42: it is paid by the chat under the name of notes", async () => {
    rig = await noteRig({ notes: SMALL, rebuild: () => ({ say: section("a", "A") }) })
    fill()
    await rig.look()
    const { spend, turns } = rig.kernel.api
    const prefix_tokens = turns.prefixTokens(rig.chat)
    const { by_source } = await spend.ofChat(rig.chat, { tokens: 0, prefix_tokens })
    expect(by_source.find(({ source }) => source === "notes")).toMatchObject({ requests: 1 })
  })

  test("NOTE-43 NOTE-44 NOTE-45: what is asked: all notes, the size to reach, what is pinned, the form, and a summary only to be read", async () => {
    rig = await noteRig({ notes: SMALL })
    const { kernel, chat } = rig
    await kernel.turn(chat, plan([{ say: "lorem ".repeat(600) }]))
    await rig.look()
    const { signal } = new AbortController()
    expect(await kernel.api.folds.fold(chat, { signal })).toMatchObject({ folded: true })
    fill()
    rig.put("goal", "finish the roof", { pinned: true })
    await rig.look()
    const [question] = rig.rebuilds()
    expect(question!.system.map(({ text }) => text).join()).toMatchSnapshot()
    const size = `The notebook has 5 notes with ${4 * wordy("a").length + 15} characters in their bodies.`
    expect(textOf(question!)).toBe(
      [
        `${size} It must fit into 600 characters and 3 notes, and no body may have more than 2000 characters.`,
        "Pinned: goal.",
        `== notebook\n${["a", "b", "c", "d"].map((name) => section(name, wordy(name))).join("\n\n")}`,
        section("goal", "finish the roof"),
        "== summary of the conversation, only to be read\nIt shows which notes are finished. The agent has it before its eyes by another way: NEVER carry anything from here into the notes.\n> HANDOVER",
      ].join("\n\n"),
    )
  })
})

describe("what takes the place of the old notebook", () => {
  test("NOTE-54 NOTE-55: what keeps its name is the same note with its body before; what was merged is new; nothing counts as changed", async () => {
    const clock = manualClock(Date.parse("2026-01-05T10:00:00Z"))
    rig = await noteRig({
      ...{ notes: SMALL, clock },
      rebuild: () => ({
        say: `Here it is:\n\n${section("a", "A, shorter\nin two lines")}\n\n${section("merged", "B and C", "of both")}\n`,
      }),
    })
    fill()
    const [old] = rig.notes()
    clock.advance(60_000)
    await rig.look()
    const [a, merged] = rig.notes()
    expect(rig.notes()).toHaveLength(2)
    expect(a).toEqual({
      ...old!,
      ...{ body: "A, shorter\nin two lines", prev_body: wordy("a"), changed: false },
      updated_at: "2026-01-05T10:01:00.000Z",
    })
    expect(merged).toMatchObject({ name: "merged", description: "of both", body: "B and C" })
    expect(merged).toMatchObject({ prev_body: null, pinned: false, changed: false })
    expect(merged!.created_at).toBe("2026-01-05T10:01:00.000Z")
  })

  test("what stayed word for word keeps the date of its last change", async () => {
    const clock = manualClock(Date.parse("2026-01-05T10:00:00Z"))
    rig = await noteRig({
      ...{ notes: SMALL, clock },
      rebuild: () => ({ say: section("short", "stays") }),
    })
    rig.put("short", "stays")
    fill()
    clock.advance(60_000)
    await rig.look()
    expect(rig.notes()).toMatchObject([
      { name: "short", prev_body: "stays", updated_at: "2026-01-05T10:00:00.000Z" },
    ])
  })

  test("NOTE-48: a pinned note that was left out comes back word for word, and one that is there keeps its pin", async () => {
    rig = await noteRig({ notes: SMALL, rebuild: () => ({ say: section("goal", "roof") }) })
    fill()
    rig.put("goal", "finish the roof", { pinned: true })
    rig.put("rule", "never touch main", { pinned: true })
    const before = rig.note("rule")
    await rig.look()
    expect(bodies()).toEqual({ rule: "never touch main", goal: "roof" })
    expect(rig.note("goal")).toMatchObject({ pinned: true, prev_body: "finish the roof" })
    expect(rig.note("rule")).toEqual({ ...before, changed: false })
  })

  test("NOTE-49: doubles and what is too long are trimmed and told in the log", async () => {
    const { log, lines } = recordedLog()
    const long = "x".repeat(120)
    rig = await noteRig({
      ...{ log, notes: { ...SMALL, max_note_chars: 400 } },
      rebuild: () => ({
        say: [
          section("Two Words!", "one", `${long} and more`),
          section("a", "first"),
          section("a", "second"),
          section("long", "y".repeat(500)),
          section("n".repeat(60), "named"),
          section("empty", ""),
        ].join("\n"),
      }),
    })
    fill()
    await rig.look()
    expect(bodies()).toEqual({
      ...{ "two-words": "one", a: "first", long: "y".repeat(400), ["n".repeat(48)]: "named" },
    })
    expect(rig.note("two-words").description).toBe(long)
    const line = lines.find((one) => one.includes("was trimmed"))!
    expect(JSON.parse(line)).toMatchObject({
      level: expect.anything(),
      trimmed: [
        "Two Words!: its name became two-words",
        "two-words: its description was cut",
        "a: its name is taken",
        "long: its body was cut",
        `${"n".repeat(60)}: its name became ${"n".repeat(48)}`,
        "empty: no note",
      ],
    })
  })

  test("NOTE-51 NOTE-52 NOTE-53: the whole old one is kept one step back, with pins and births, and can be brought back", async () => {
    let count = 0
    rig = await noteRig({
      notes: SMALL,
      rebuild: () => ({ say: section("a", `rebuilt ${++count}`) }),
    })
    const { notebook } = rig.kernel.api
    expect(() => notebook.restore(rig.chat)).toThrow("never rebuilt")
    fill()
    rig.put("goal", "first goal", { pinned: true })
    rig.put("goal", "finish the roof")
    const before = rig.notes()
    await rig.look()
    expect(bodies()).toEqual({ goal: "finish the roof", a: "rebuilt 1" })
    notebook.restore(rig.chat)
    expect(rig.notes().map((note) => ({ ...note, changed: true }))).toEqual(before)
    // What was there instead can be brought back in turn.
    notebook.restore(rig.chat)
    expect(bodies()).toEqual({ goal: "finish the roof", a: "rebuilt 1" })
    // The next rebuild leaves one step back, and not two.
    fill(["x", "y", "z"])
    const second = rig.notes()
    await rig.look()
    expect(bodies()).toEqual({ goal: "finish the roof", a: "rebuilt 2" })
    notebook.restore(rig.chat)
    expect(rig.notes().map(({ id, body }) => [id, body])).toEqual(
      second.map(({ id, body }) => [id, body]),
    )
  })
})

describe("an answer that is turned down", () => {
  const warnings = (lines: readonly string[]): string[] =>
    lines.filter((line) => line.includes("turned down")).map((line) => JSON.parse(line).reason)

  test.each([
    ["without a note", "I have no idea.", "the answer holds no note"],
    [
      "no smaller than before",
      ["a", "b", "c", "d"].map((name) => section(name, wordy(name))).join("\n"),
      "the answer is no smaller than what it was made from",
    ],
    [
      "in more notes than before",
      ["a", "b", "c", "d", "e"].map((name) => section(name, name)).join("\n"),
      "the answer is no smaller than what it was made from",
    ],
  ])(
    "NOTE-46 NOTE-47 NOTE-50: %s: the old notebook stays, half the room is asked for once, and no more",
    async (_name, say, reason) => {
      const { log, lines } = recordedLog()
      rig = await noteRig({ notes: SMALL, log, rebuild: () => ({ say }) })
      fill()
      const before = rig.notes()
      const events = await rig.kernel.turn(rig.chat, "hi")
      expect(events.at(-1)).toMatchObject({ type: "done" })
      expect(rig.notes()).toEqual(before)
      expect(warnings(lines)).toEqual([reason, reason])
      expect(lines.filter((line) => line.includes("turned down")).every(isWarning)).toBe(true)
      const asked = rig
        .rebuilds()
        .map((request) => /fit into (\d+) .* and (\d+) notes/.exec(textOf(request)))
      expect(asked.map((found) => found!.slice(1))).toEqual([
        ["600", "3"],
        ["300", "1"],
      ])
      // Another turn does not ask again for the same notebook.
      await rig.look()
      expect(rig.rebuilds()).toHaveLength(2)
      fill(["e", "f"])
      await rig.look()
      expect(rig.rebuilds().length).toBeGreaterThan(2)
    },
  )

  const isWarning = (line: string): boolean => JSON.parse(line).level === "warn"

  test("NOTE-50: the second try counts when it fits", async () => {
    rig = await noteRig({
      notes: SMALL,
      rebuild: (request) => ({
        say: textOf(request).includes("300 characters") ? section("a", "A") : "no",
      }),
    })
    fill()
    await rig.look()
    expect(bodies()).toEqual({ a: "A" })
  })

  test("an answer that was cut off is none", async () => {
    rig = await noteRig({
      notes: SMALL,
      rebuild: () => ({ say: section("a", "A".repeat(50)), stop: "length" }),
    })
    fill()
    const before = rig.notes()
    await rig.look()
    expect(rig.notes()).toEqual(before)
  })

  test("NOTE-39: a model that fails costs neither the turn nor the notebook", async () => {
    const { log, lines } = recordedLog()
    rig = await noteRig({ notes: SMALL, log, rebuild: () => ({ fail: "fatal" }) })
    fill()
    const before = rig.notes()
    const events: SeenEvent[] = await rig.kernel.turn(rig.chat, plan([{ say: "the answer" }]))
    expect(events.at(-1)).toMatchObject({ type: "done", reason: "done" })
    expect(rig.notes()).toEqual(before)
    expect(lines.some((line) => line.includes("could not be rebuilt"))).toBe(true)
    expect(rig.rebuilds()).toHaveLength(1)
  })

  test("a cancel that comes meanwhile ends the rebuild alone: the turn was answered, and the next one tries again", async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    rig = await noteRig({
      notes: SMALL,
      rebuild: () => {
        if (rig.rebuilds().length > 1) return { say: section("a", "A") }
        void rig.kernel.api.turns.cancelChat(rig.chat).then(() => resolve())
        return { say: section("a", "cancelled") }
      },
    })
    fill()
    const before = rig.notes()
    const events = await rig.kernel.turn(rig.chat, plan([{ say: "the answer" }]))
    await promise
    expect(events.at(-1)).toMatchObject({ type: "done", reason: "done" })
    expect(rig.notes()).toEqual(before)
    await rig.look()
    expect(bodies()).toEqual({ a: "A" })
  })

  test("NOTE-39 TURN-019: follows a tool that ends the turn, as it follows an answer", async () => {
    rig = await noteRig({ notes: SMALL, rebuild: () => ({ say: section("a", "A") }) })
    rig.kernel.api.registry.register({
      ...{ name: "post", group: "test", description: "Ends the turn.", gates: [] },
      ...{ input: { type: "object", properties: {} }, traits: { endsTurn: true } },
      run: async () => ({ output: "posted" }),
    })
    fill()
    const events = await rig.kernel.turn(rig.chat, plan([{ call: "post" }]))
    expect(events.at(-1)).toMatchObject({ type: "done", reason: "done" })
    expect(bodies()).toEqual({ a: "A" })
  })

  test("what was written while the model thought is not lost", async () => {
    rig = await noteRig({
      notes: SMALL,
      rebuild: () => {
        rig.put("late", "written meanwhile")
        return { say: section("a", "A") }
      },
    })
    fill()
    await rig.look()
    expect(Object.keys(bodies())).toEqual(["a", "b", "c", "d", "late"])
  })
})

describe("chat_note_compact", () => {
  test("NOTE-32 THIST-16: rebuilds at once, whatever the size", async () => {
    rig = await noteRig({ rebuild: () => ({ say: section("a", "A") }) })
    fill(["a", "b"])
    const chars = wordy("a").length + wordy("b").length
    expect(await rig.calls(["chat_note_compact", {}])).toEqual([
      `rebuilt: 2 notes with ${chars} characters became 1 with 1`,
    ])
    expect(bodies()).toEqual({ a: "A" })
    expect(JSON.stringify(rig.kernel.requests.at(-1))).toContain("## a — about a\\n> A")
  })

  test("says why it did not", async () => {
    rig = await noteRig({ rebuild: () => ({ say: "no" }) })
    expect(await rig.calls(["chat_note_compact", {}])).toEqual([
      "the notebook is as it was: there are no notes",
    ])
    fill(["a"])
    expect(await rig.calls(["chat_note_compact", {}])).toEqual([
      "the notebook is as it was: the answer holds no note",
    ])
  })
})
