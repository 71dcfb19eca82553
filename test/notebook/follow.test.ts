/** What becomes of a notebook when its chat is folded, cleared, taken back, branched or erased. */

import { Database } from "bun:sqlite"
import { afterEach, expect, test } from "bun:test"
import { join } from "node:path"
import { manualClock } from "../../src/lib/clock.ts"
import { plan } from "../support/kernel.ts"
import { type NoteRig, notebookIn, noteRig, resultsIn } from "./rig.ts"

let rig: NoteRig
afterEach(() => rig.kernel.dispose())

const lastMessage = (chat: string): string =>
  rig.kernel.api.messages.page(chat, { limit: 100 }).at(-1)!.id

test("NOTE-01: outlives the window of history, a fold and a cleared chat", async () => {
  rig = await noteRig({ config: { context: { telegram: { history_limit: 1 } } } })
  const { kernel, chat } = rig
  const save = { name: "build", description: "how it is built", body: "make all" }
  await rig.calls(["chat_note_save", save])
  await kernel.turn(chat, plan([{ say: "lorem ".repeat(600) }]))
  const shown = "## build — how it is built\n> make all"
  await kernel.turn(chat, { text: "by a narrow window", anchor: "telegram:1:2", trusted: true })
  expect(kernel.requests.at(-1)!.messages).toHaveLength(1)
  expect(notebookIn(kernel.requests.at(-1)!)).toContain(shown)
  const { signal } = new AbortController()
  expect(await kernel.api.folds.fold(chat, { signal })).toMatchObject({ folded: true })
  expect(notebookIn(await rig.look())).toContain(shown)
  await kernel.api.chats.clear(chat)
  const request = await rig.look()
  expect(request.messages).toHaveLength(1)
  expect(notebookIn(request)).toContain(shown)
})

test("NOTE-57 THIST-3: chat_clear says how many notes it leaves", async () => {
  rig = await noteRig()
  rig.put("a", "x")
  await rig.look()
  expect(await rig.calls(["chat_clear", {}])).toEqual([
    "erased 2 messages; what this turn says stays, and so does 1 note",
  ])
  rig.put("b", "x")
  expect(await rig.calls(["chat_clear", {}])).toEqual([
    expect.stringMatching(/; what this turn says stays, and so do 2 notes$/),
  ])
  expect(rig.notes().map(({ name }) => name)).toEqual(["a", "b"])
})

test("a chat that is taken back keeps its notes: they are not a part of the history", async () => {
  rig = await noteRig()
  await rig.look()
  rig.put("a", "x")
  await rig.kernel.api.chats.rewind(rig.chat, lastMessage(rig.chat))
  expect(rig.notes()).toHaveLength(1)
})

test("NOTE-64: a branch has the notebook with its pins and the way it is shown, and each goes on by itself", async () => {
  rig = await noteRig({ notes: { inline_max_notes: 5 } })
  rig.put("goal", "first", { pinned: true })
  rig.put("goal", "finish the roof")
  for (const name of ["a", "b", "c", "d", "e"]) rig.put(name, "x")
  await rig.look()
  const { kernel, chat } = rig
  const { chats, notebook } = kernel.api
  notebook.look(chat)
  // Five would be shown whole, had they not been shown by name before.
  notebook.remove(chat, "e")
  const branch = chats.fork(chat, { before_message: lastMessage(chat) }).id
  const copied = notebook.list(branch)
  expect(copied.notes.map(({ id: _, ...note }) => note)).toEqual(
    rig.notes().map(({ id: _, ...note }) => ({ ...note, changed: true })),
  )
  expect(copied).toMatchObject({ seen_at: null, archived_at: null, mode: "index" })
  notebook.save(branch, "goal", { body: "another roof" })
  notebook.save(chat, "a", { body: "y" })
  expect(rig.note("goal").body).toBe("finish the roof")
  const bodies = notebook.list(branch).notes.map(({ body }) => body)
  expect(bodies).toEqual(["another roof", "x", "x", "x", "x"])
})

test("NOTE-56 C-17: goes with a chat that is erased for good, its archive too, and stays with one in the bin", async () => {
  const clock = manualClock(Date.parse("2026-01-05T10:00:00Z"))
  rig = await noteRig({
    ...{ clock, config: { chats: { ephemeral_ttl: "1h" } } },
    rebuild: () => ({ say: "## a | about a\nA" }),
  })
  const { chats, notebook } = rig.kernel.api
  const { id } = chats.create({ ephemeral: true })
  for (const chat of [rig.chat, id]) {
    notebook.save(chat, "a", { description: "d", body: "lorem ipsum" })
    const events = await rig.kernel.turn(chat, plan([{ call: "chat_note_compact" }]))
    expect(resultsIn(events)[0]).toStartWith("rebuilt")
  }
  await chats.remove(rig.chat)
  clock.advance(2 * 3_600_000)
  expect(await chats.reap()).toEqual([id])
  const db = new Database(join(rig.kernel.folder, "eva.db"), { readonly: true })
  for (const table of ["chat_notes", "chat_notes_archive"]) {
    expect(db.query(`SELECT chat_id FROM ${table}`).values()).toEqual([[rig.chat]])
  }
  db.close()
})
