/** Writing, reading and deleting notes, as the agent does it in turns of its own. */
import { afterEach, describe, expect, test } from "bun:test"
import { manualClock } from "../../src/lib/clock.ts"
import { plan } from "../support/kernel.ts"
import { type NoteRig, notebookIn, noteRig } from "./rig.ts"

let rig: NoteRig
afterEach(() => rig.kernel.dispose())

const draft = (name: string, body = "make all", description = "how it is built") => ({
  ...{ name, description, body },
})

test("what the model is shown of the tools", async () => {
  rig = await noteRig()
  const specs = rig.kernel.api.registry.list().map(({ spec }) => spec)
  const own = specs.filter(({ name }) => name.startsWith("chat_note_"))
  expect(JSON.parse(JSON.stringify(own))).toMatchSnapshot()
  expect(JSON.stringify(own).length).toBeLessThan(2000)
})

describe("a note", () => {
  test("NOTE-02 NOTE-30: has name, description, body, the body before, a pin and two dates; it is written whole", async () => {
    const clock = manualClock(Date.parse("2026-01-05T10:00:00Z"))
    rig = await noteRig({ clock })
    expect(await rig.calls(["chat_note_save", draft("build", "make")])).toEqual([
      "saved: build (4 characters)",
    ])
    const first = rig.note("build")
    expect(first).toEqual({
      ...{ id: first.id, name: "build", description: "how it is built", body: "make" },
      ...{ prev_body: null, pinned: false, changed: true },
      ...{ created_at: "2026-01-05T10:00:00.000Z", updated_at: "2026-01-05T10:00:00.000Z" },
    })
    clock.advance(60_000)
    const anew = { ...draft("build", "ninja", "how it is built now"), pinned: true }
    expect(await rig.calls(["chat_note_save", anew])).toEqual([
      "changed: build, pinned (5 characters)",
    ])
    expect(rig.notes()).toEqual([
      {
        ...first,
        ...{ description: "how it is built now", body: "ninja", prev_body: "make", pinned: true },
        updated_at: "2026-01-05T10:01:00.000Z",
      },
    ])
  })

  test("NOTE-02: is one of its name in its chat and none of another chat's", async () => {
    rig = await noteRig()
    await rig.calls(["chat_note_save", draft("build", "one")])
    await rig.calls(["chat_note_save", draft("build", "two")])
    const other = rig.kernel.newChat()
    await rig.kernel.turn(other, plan([{ call: "chat_note_save", input: draft("build", "three") }]))
    expect(rig.notes().map(({ body }) => body)).toEqual(["two"])
    expect(rig.kernel.api.notebook.list(other).notes.map(({ body }) => body)).toEqual(["three"])
  })

  test("what is left out of a note that is there stays, and the same words leave the change before them", async () => {
    rig = await noteRig()
    rig.put("build", "make")
    rig.put("build", "ninja")
    await rig.calls(["chat_note_save", { name: "build", pinned: true }])
    expect(rig.note("build")).toMatchObject({ body: "ninja", prev_body: "make", pinned: true })
    await rig.calls(["chat_note_save", { name: "build", body: "ninja" }])
    expect(rig.note("build")).toMatchObject({ prev_body: "make", description: "about build" })
  })

  test("a new one needs a description and a body", async () => {
    rig = await noteRig()
    const [nameless, bodiless] = await rig.calls(
      ["chat_note_save", { name: "a", body: "x" }],
      ["chat_note_save", { name: "a", description: "x" }],
    )
    expect(nameless).toBe("description must say what the note is about")
    expect(bodiless).toBe("body must hold the note")
    expect(rig.notes()).toEqual([])
  })

  test("chat_note_forget deletes one, and says so when there is none", async () => {
    rig = await noteRig()
    rig.put("build", "make")
    expect(
      await rig.calls(
        ["chat_note_forget", { name: "biuld" }],
        ["chat_note_forget", { name: "build" }],
      ),
    ).toEqual(["no note biuld; did you mean build?", "deleted: build"])
    expect(rig.notes()).toEqual([])
  })
})

describe("limits", () => {
  test("NOTE-33 NOTE-34: of names and descriptions are told in words", async () => {
    rig = await noteRig()
    const nameRule = "a note's name is 1 to 48 characters of a-z, 0-9, _ and -"
    for (const name of ["Build", "the build", "сборка", ""]) {
      expect(await rig.calls(["chat_note_save", draft(name)])).toEqual([nameRule])
    }
    expect(
      await rig.calls(
        ["chat_note_save", draft("n".repeat(49))],
        ["chat_note_save", draft("a", "x", "d".repeat(121))],
        ["chat_note_save", draft("a", "x", "two\nlines")],
        ["chat_note_save", draft("n".repeat(48), "x", "d".repeat(120))],
      ),
    ).toEqual([
      `${nameRule}; this has 49`,
      "description has 121 characters, 120 are the most: say it shorter, details belong in the body",
      "description is one line",
      `saved: ${"n".repeat(48)} (1 characters)`,
    ])
  })

  test("NOTE-35 CFG-100: a body that is too long is refused whole, with advice", async () => {
    rig = await noteRig()
    const [refused, kept] = await rig.calls(
      ["chat_note_save", draft("a", "x".repeat(2001))],
      ["chat_note_save", draft("b", "x".repeat(2000))],
    )
    expect(refused).toBe("body has 2001 characters, 2000 are the most: split it into two notes")
    expect(kept).toBe("saved: b (2000 characters)")
    expect(rig.notes().map(({ name }) => name)).toEqual(["b"])
  })

  test("CFG-100: notes.max_note_chars moves the limit", async () => {
    rig = await noteRig({ notes: { max_note_chars: 100 } })
    expect(await rig.calls(["chat_note_save", draft("a", "x".repeat(101))])).toEqual([
      "body has 101 characters, 100 are the most: split it into two notes",
    ])
  })

  test("a notebook has an end, whatever its rebuilds do", async () => {
    rig = await noteRig()
    for (let at = 0; at < 200; at++) rig.put(`n${at}`, "x")
    expect(() => rig.put("one-more", "x")).toThrow(
      "the notebook has 200 notes, 200 are the most: delete what is finished first",
    )
    rig.put("n7", "y")
  })
})

describe("writing over what was not read", () => {
  const many = { inline_max_notes: 1 }
  const refusal = (name: string): string =>
    `${name} is there already and this turn has not read what it says: chat_note_read first, then write it anew`

  test("NOTE-36 THIST-14: while notes are listed, a note must have been read in the same turn", async () => {
    rig = await noteRig({ notes: many })
    rig.put("a", "old a")
    rig.put("b", "old b")
    expect(await rig.calls(["chat_note_save", draft("a", "new")])).toEqual([refusal("a")])
    expect(rig.note("a").body).toBe("old a")
    const read: [string, object] = ["chat_note_read", { names: ["a"] }]
    const [, saved] = await rig.calls(read, ["chat_note_save", draft("a", "new")])
    expect(saved).toBe("changed: a (3 characters)")
    // The next turn has not read it.
    expect(await rig.calls(["chat_note_save", draft("a", "newer")])).toEqual([refusal("a")])
  })

  test("NOTE-36: what the turn wrote itself it knows, and what changed since it was read it does not", async () => {
    rig = await noteRig({ notes: many })
    rig.put("a", "old a")
    rig.put("b", "old b")
    const { kernel, chat } = rig
    kernel.api.registry.register({
      ...{ name: "intrude", group: "test", description: "Writes as the master does.", traits: {} },
      ...{ input: { type: "object", properties: {} }, gates: [] },
      run: async () => {
        kernel.api.notebook.save(chat, "a", { body: "the master's" })
        return { output: "written" }
      },
    })
    expect(
      await rig.calls(
        ["chat_note_save", draft("c", "one")],
        ["chat_note_save", draft("c", "two")],
        ["chat_note_read", { names: ["a"] }],
        ["intrude", {}],
        ["chat_note_save", draft("a", "mine")],
      ),
    ).toEqual([
      "saved: c (3 characters)",
      "changed: c (3 characters)",
      "## a | about a\nold a",
      "written",
      refusal("a"),
    ])
  })

  test("NOTE-36: a pinned note is in sight when it stands whole in the prompt", async () => {
    rig = await noteRig({ notes: { ...many, max_note_chars: 100, pinned_chars: 100 } })
    rig.put("a", "x".repeat(90), { pinned: true })
    rig.put("b", "old b")
    expect(await rig.calls(["chat_note_save", draft("a", "short")])).toEqual([
      "changed: a, pinned (5 characters)",
    ])
  })

  test("NOTE-37: while notes stand whole in the prompt, nothing has to be read", async () => {
    rig = await noteRig()
    rig.put("a", "old a")
    expect(await rig.calls(["chat_note_save", draft("a", "new")])).toEqual([
      "changed: a (3 characters)",
    ])
    expect(rig.note("a")).toMatchObject({ body: "new", prev_body: "old a" })
  })
})

describe("reading", () => {
  test("NOTE-31 THIST-15: gives several notes at once, and names those that are not there", async () => {
    rig = await noteRig({ notes: { inline_max_notes: 1 } })
    rig.put("a", "body a")
    rig.put("b", "body b\nin two lines")
    expect(
      await rig.calls(
        ["chat_note_read", { names: ["b", "a", "cc"] }],
        ["chat_note_read", { names: ["nowhere"] }],
      ),
    ).toEqual([
      "## a | about a\nbody a\n\n## b | about b\nbody b\nin two lines\n\nno note cc",
      "no note nowhere",
    ])
  })

  test("what several notes say reaches the model whole", async () => {
    rig = await noteRig({ notes: { inline_max_notes: 1 } })
    for (const name of ["a", "b", "c"]) rig.put(name, `${name} begins ${"x".repeat(1900)} ends`)
    await rig.calls(["chat_note_read", { names: ["a", "b", "c"] }])
    const results = rig.kernel.requests
      .at(-1)!
      .messages.flatMap(({ blocks }) => blocks)
      .flatMap((block) => (block.type === "tool_result" ? [block.output] : []))
    expect(results[0]).toContain("a begins")
    expect(results[0]).toEndWith("xx ends")
    expect(results[0]).not.toContain("cut")
  })

  test("NOTE-38: nothing searches notes", async () => {
    rig = await noteRig()
    const tools = rig.kernel.api.registry.list().filter(({ tool }) => tool.name.includes("note"))
    expect(tools.map(({ tool }) => tool.name)).toEqual([
      ...["chat_note_compact", "chat_note_forget", "chat_note_read", "chat_note_save"],
    ])
    const fields = tools.map(({ spec }) => Object.keys(spec.input_schema.properties as object))
    expect(fields).toEqual([[], ["name"], ["names"], ["name", "description", "body", "pinned"]])
  })
})

test("NOTE-24: each of these steps is an ordinary call in the feed, with its icon", async () => {
  rig = await noteRig()
  const events = await rig.kernel.turn(
    rig.chat,
    plan([{ call: "chat_note_save", input: draft("build") }, { say: "done" }]),
  )
  const call = events.find(({ type }) => type === "tool_call")
  expect(call).toMatchObject({ name: "chat_note_save", input: draft("build") })
  const drawn = rig.kernel.api.items.itemPage(rig.chat, {}).find(({ kind }) => kind === "tool_call")
  expect(drawn).toMatchObject({ name: "chat_note_save", status: "completed" })
  const infos = rig.kernel.api.registry.info([]).filter(({ name }) => name.startsWith("chat_note_"))
  expect(infos.map(({ icon }) => icon)).toEqual(["📝", "📝", "📝", "📝"])
  expect(JSON.stringify(rig.kernel.requests.at(-1)!.tools)).not.toContain("📝")
})

test("NOTE-25 NOTE-12 THIST-13: group, gates and the quiet flag of the family", async () => {
  rig = await noteRig()
  const infos = rig.kernel.api.registry.info([]).filter(({ name }) => name.startsWith("chat_note_"))
  const flags = { group: "chat", quiet: true, master_only: true, lead_only: true }
  for (const info of infos) expect(info).toMatchObject(flags)
  const indexed = infos.filter((info) => (info as Record<string, unknown>).indexed_notes_only)
  expect(indexed.map(({ name }) => name)).toEqual(["chat_note_read"])
})

test("NOTE-26: what these calls answered leaves the prompt first, and is never marked for the model", async () => {
  rig = await noteRig()
  await rig.calls(["chat_note_save", draft("build")])
  const fresh = JSON.stringify(rig.kernel.requests.at(-1)!.messages)
  expect(fresh).toContain("saved: build")
  expect(fresh).not.toContain("uneventful")
  const later = JSON.stringify((await rig.look()).messages)
  expect(later).not.toContain("saved: build")
  expect(later).toContain('"output":"[empty]"')
  expect(notebookIn(rig.kernel.requests.at(-1)!)).toContain("> make all")
})
