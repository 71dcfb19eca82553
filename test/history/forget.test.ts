/** What is erased is found no more, and after a sweep nothing of it is left in the index. */
import { Database } from "bun:sqlite"
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test"
import { type HistoryRig, historyRig } from "./rig.ts"

// Nothing here waits for time; a slow disk may.
setDefaultTimeout(60_000)

let rig: HistoryRig
let chat: string
beforeEach(() => {
  rig = historyRig()
  chat = rig.newChat()
})
afterEach(() => rig.dispose())

/** Groups of characters that the index still knows. */
function terms(): string[] {
  using db = new Database(rig.store.path)
  db.run("CREATE VIRTUAL TABLE temp.terms USING fts5vocab('main', 'history_index', 'row')")
  return db
    .query<{ term: string }, []>("SELECT term FROM temp.terms")
    .all()
    .map(({ term }) => term)
}

test("a cut, a clear and the end of a chat take out what they erase", async () => {
  const other = rig.newChat()
  rig.say(chat, "keep xylophone one")
  const second = rig.say(chat, "cut xylophone two")
  rig.say(other, "xylophone three")
  expect(await rig.found("xylophone")).toHaveLength(3)
  await rig.chats.rewind(chat, second.id)
  expect(await rig.found("xylophone")).toEqual(["xylophone three", "keep xylophone one"])
  await rig.chats.clear(chat)
  expect(await rig.found("xylophone")).toEqual(["xylophone three"])
  rig.store.db.run("DELETE FROM chats WHERE id = ?", [other])
  expect(await rig.found("xylophone")).toEqual([])
})

test("what was never indexed leaves nothing either", async () => {
  rig.say(chat, "xylophone")
  await rig.chats.clear(chat)
  expect(await rig.found("xylophone")).toEqual([])
  expect(
    rig.store.db
      .query("SELECT * FROM history_pending UNION ALL SELECT chat_id, message_id FROM history_docs")
      .all(),
  ).toEqual([])
})

test("an undone erasure leaves the index as it was", async () => {
  rig.say(chat, "xylophone")
  expect(await rig.found("xylophone")).toHaveLength(1)
  expect(() =>
    rig.store.write(() => {
      rig.store.db.run("DELETE FROM messages")
      throw new Error("undo")
    }),
  ).toThrow("undo")
  expect(await rig.found("xylophone")).toHaveLength(1)
})

test("a chat in the bin is not searched, and found again when it is back", async () => {
  rig.say(chat, "xylophone")
  await rig.chats.remove(chat)
  expect(await rig.found("xylophone")).toEqual([])
  rig.chats.restore(chat)
  expect(await rig.found("xylophone")).toEqual(["xylophone"])
})

test("a sweep leaves no trace of erased words in the index", async () => {
  rig.say(chat, "plain words stay")
  const from = rig.say(chat, "canary qzx")
  for (let i = 0; i < 60; i++) rig.say(chat, `later ${i} qzx`)
  expect(await rig.found("qzx")).toHaveLength(61)
  await rig.chats.rewind(chat, from.id)
  await rig.history.sweep()
  expect(terms()).not.toContain("qzx")
  expect(terms()).toContain("pla")
  expect(await rig.found("plain words")).toHaveLength(1)
})
