/** The notebook of a chat over HTTP: how the master reads and writes it outside of turns. */
import { afterEach, describe, expect, test } from "bun:test"
import { manualClock } from "../../src/lib/clock.ts"
import { plan } from "../support/kernel.ts"
import { type TestApi, type TestApiOptions, testApi } from "./support.ts"

let api: TestApi
let chat: string
const clock = manualClock(Date.parse("2026-01-05T10:00:00Z"))

async function start(options: TestApiOptions = {}): Promise<void> {
  api = await testApi({ clock, ...options })
  chat = await api.newChat()
}
afterEach(() => api.dispose())

const path = (rest = ""): string => `/v1/chats/${chat}/notes${rest}`

const NOTE = { description: "how it is built", body: "make all" }

describe("reading", () => {
  test("NOTE-60 API-039: gives each note with its body before, and no difference of its own", async () => {
    await start()
    expect((await api.call(`GET ${path()}`)).json).toEqual({
      ...{ notes: [], mode: "inline", seen_at: null, archived_at: null },
    })
    await api.call(`PUT ${path("/build")}`, NOTE)
    await api.call(`PUT ${path("/build")}`, { body: "ninja" })
    const { json } = await api.call(`GET ${path()}`)
    expect(json.notes).toHaveLength(1)
    expect(json.notes[0]).toMatchObject({ body: "ninja", prev_body: "make all", pinned: false })
    expect(Object.keys(json.notes[0]).sort()).toEqual([
      ...["body", "changed", "created_at", "description", "id", "name", "pinned", "prev_body"],
      "updated_at",
    ])
  })

  test("NOTE-62 API-039: what is new is told by one mark on the server, the same for every client", async () => {
    await start()
    const changed = async (): Promise<Record<string, boolean>> => {
      const { json } = await api.call(`GET ${path()}`)
      const notes: { name: string; changed: boolean }[] = json.notes
      return Object.fromEntries(notes.map((note) => [note.name, note.changed]))
    }
    await api.call(`PUT ${path("/a")}`, NOTE)
    expect(await changed()).toEqual({ a: true })
    clock.advance(1000)
    const seen = await api.call(`POST ${path("/seen")}`, {})
    expect(seen.json.seen_at).toBe(new Date(clock.now()).toISOString())
    expect(await changed()).toEqual({ a: false })
    clock.advance(1000)
    const read = new Date(clock.now()).toISOString()
    clock.advance(1000)
    await api.kernel.turn(
      chat,
      plan([{ call: "chat_note_save", input: { name: "b", ...NOTE } }, { say: "ok" }]),
    )
    expect(await changed()).toEqual({ a: false, b: true })
    // A client that read before b was written has not seen it, and no mark goes back.
    await api.call(`POST ${path("/seen")}`, { at: read })
    expect(await changed()).toEqual({ a: false, b: true })
    await api.call(`POST ${path("/seen")}`, { at: "2020-01-01T00:00:00Z" })
    expect(await changed()).toEqual({ a: false, b: true })
    await api.call(`POST ${path("/seen")}`, { at: "2099-01-01T00:00:00Z" })
    clock.advance(1000)
    await api.call(`PUT ${path("/a")}`, { body: "later" })
    expect(await changed()).toEqual({ a: true, b: false })
  })

  test("NOTE-12: the catalogue of tools shows the gate and the quiet flag", async () => {
    await start()
    const { json } = await api.call("GET /v1/tools")
    const family = json.tools.filter(({ name }: { name: string }) => name.startsWith("chat_note_"))
    expect(family.map((tool: Record<string, unknown>) => [tool.name, tool.quiet])).toEqual([
      ...[
        ["chat_note_compact", true],
        ["chat_note_forget", true],
      ],
      ...[
        ["chat_note_read", true],
        ["chat_note_save", true],
      ],
    ])
    const gated = json.tools.filter((tool: Record<string, unknown>) => tool.indexed_notes_only)
    expect(gated.map(({ name }: { name: string }) => name)).toEqual(["chat_note_read"])
  })
})

describe("writing", () => {
  test("NOTE-61 API-040: the master writes and deletes a note outside of any turn, and the next turn sees it", async () => {
    await start()
    const { json } = await api.call(`PUT ${path("/build")}`, { ...NOTE, pinned: true })
    expect(json.notes).toMatchObject([{ name: "build", ...NOTE, pinned: true }])
    expect(api.kernel.requests).toEqual([])
    await api.kernel.turn(chat, "hi")
    expect(JSON.stringify(api.kernel.requests)).toContain(
      "## build — how it is built (pinned)\\n> make all",
    )
    expect((await api.call(`DELETE ${path("/build")}`)).json).toEqual({ deleted: true })
    expect((await api.call(`DELETE ${path("/build")}`)).json).toEqual({ deleted: false })
    expect((await api.call(`GET ${path()}`)).json.notes).toEqual([])
  })

  test("API-040: limits are those of the tool, with the field that is wrong", async () => {
    await start()
    const refusals: [name: string, body: object, status: number, path: string][] = [
      ["Build", NOTE, 400, "name"],
      ["build", { ...NOTE, body: "x".repeat(2001) }, 400, "body"],
      ["build", { ...NOTE, description: "x".repeat(121) }, 400, "description"],
      ["build", { body: "x" }, 400, "description"],
      ["build", { ...NOTE, pinned: "yes" }, 422, "pinned"],
      ["build", { ...NOTE, title: "x" }, 422, "title"],
      ["build", {}, 422, ""],
    ]
    for (const [name, body, status, field] of refusals) {
      const reply = await api.call(`PUT ${path(`/${name}`)}`, body)
      expect([reply.status, reply.json.path ?? ""]).toEqual([status, field])
    }
    for (const name of ["a", "b", "c"])
      await api.call(`PUT ${path(`/${name}`)}`, { ...NOTE, pinned: true })
    const fourth = await api.call(`PUT ${path("/d")}`, { ...NOTE, pinned: true })
    expect(fourth).toMatchObject({ status: 400, json: { path: "pinned" } })
  })

  test("a chat that is not there has no notebook to read or write", async () => {
    await start()
    chat = "nowhere"
    for (const [route, body] of [
      ...[[`GET ${path()}`], [`PUT ${path("/a")}`, NOTE], [`DELETE ${path("/a")}`]],
      ...[
        [`POST ${path("/seen")}`, {}],
        [`POST ${path("/restore")}`],
        [`POST ${path("/compact")}`],
      ],
    ] as [string, object?][]) {
      expect([route, (await api.call(route, body)).status]).toEqual([route, 404])
    }
  })
})

describe("rebuilding", () => {
  test("NOTE-53 API-041: by hand, and taken back with pins and births", async () => {
    await start({ mock: { answer: rebuildAs("## a | about a\nA") } })
    expect((await api.call(`POST ${path("/restore")}`)).status).toBe(404)
    await api.call(`PUT ${path("/a")}`, { ...NOTE, body: "lorem ipsum", pinned: true })
    await api.call(`PUT ${path("/b")}`, NOTE)
    const { json: before } = await api.call(`GET ${path()}`)
    clock.advance(60_000)
    expect((await api.call(`POST ${path("/compact")}`)).json).toEqual({
      ...{ rebuilt: true, notes: 1, chars: 1 },
    })
    const { json: after } = await api.call(`GET ${path()}`)
    expect(after.notes).toMatchObject([{ name: "a", body: "A", pinned: true, changed: false }])
    expect(after.archived_at).toBe(new Date(clock.now()).toISOString())
    const { json: restored } = await api.call(`POST ${path("/restore")}`)
    const unmarked = (notes: { changed: boolean }[]) => notes.map(({ changed: _, ...note }) => note)
    expect(unmarked(restored.notes)).toEqual(unmarked(before.notes))
  })

  test("says why nothing came of it, and that a model could not be reached", async () => {
    await start({ mock: { answer: rebuildAs("no") } })
    const empty = await api.call(`POST ${path("/compact")}`)
    expect(empty.json).toMatchObject({ rebuilt: false, notes: 0, reason: "there are no notes" })
    await api.call(`PUT ${path("/a")}`, NOTE)
    const refused = await api.call(`POST ${path("/compact")}`)
    expect(refused.json).toEqual({
      ...{ rebuilt: false, notes: 1, chars: 8, reason: "the answer holds no note" },
    })
    await api.dispose()
    await start({ mock: { answer: () => ({ fail: "fatal" }) } })
    await api.call(`PUT ${path("/a")}`, NOTE)
    expect((await api.call(`POST ${path("/compact")}`)).status).toBe(503)
  })
})

const rebuildAs =
  (say: string) =>
  ({ system }: { system: readonly { text: string }[] }) =>
    system[0]?.text.startsWith("You put a notebook in order") ? { say } : undefined

test("NOTE-63: no event tells of a note; a client reads the notebook again when a turn is done", async () => {
  await start()
  const step = { call: "chat_note_save", input: { name: "a", ...NOTE } }
  const events = await api.kernel.turn(chat, plan([step, { say: "ok" }]))
  const types = new Set(events.map(({ type }) => type))
  for (const type of types) expect(type).not.toContain("note")
  const { json } = await api.call(`GET ${path()}`)
  expect(json.notes).toHaveLength(1)
  expect(events.at(-1)!.type).toBe("done")
})

test("API-032: a cleared chat keeps its notebook", async () => {
  await start()
  await api.call(`PUT ${path("/a")}`, NOTE)
  await api.kernel.turn(chat, "hi")
  await api.call(`POST /v1/chats/${chat}/clear`)
  expect((await api.call(`GET /v1/chats/${chat}/messages`)).json.messages).toEqual([])
  expect((await api.call(`GET ${path()}`)).json.notes).toMatchObject([{ name: "a" }])
})
