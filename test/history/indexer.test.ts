/** The index is made by itself, survives what is damaged, and is caught up by a search. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test"
import { createSearchThread } from "../../src/history/search.ts"
import { sleep } from "../../src/lib/async.ts"
import { systemClock } from "../../src/lib/clock.ts"
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

const count = (table: "history_pending" | "history_docs"): number =>
  rig.store.db.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()!.n

test("what is noted is indexed in a quiet moment, without a search", async () => {
  await rig.dispose()
  rig = historyRig({ clock: systemClock })
  chat = rig.newChat()
  for (let i = 0; i < 30; i++) rig.say(chat, `word ${i}`)
  expect(count("history_pending")).toBe(30)
  rig.history.note()
  while (count("history_pending") > 0) await sleep(20)
  expect(count("history_docs")).toBe(30)
})

test("a search finds what was stored right before it, however much it is", async () => {
  rig.store.write(() => {
    for (let i = 0; i < 200; i++) rig.say(chat, `word ${i}`)
  })
  const page = await rig.search("word", { limit: 500 })
  expect(page.hits).toHaveLength(200)
  expect(page.behind).toBe(false)
})

test("a damaged message says nothing, and the others are found", async () => {
  const damaged = rig.say(chat, "word one")
  rig.say(chat, "word two")
  rig.store.db.run("UPDATE messages SET blocks = '[{' WHERE id = ?", [damaged.id])
  expect(await rig.found("word")).toEqual(["word two"])
})

test("a thread whose search does not come back is ended", async () => {
  rig.say(chat, "a".repeat(60))
  await rig.history.search({
    ...{ query: "aaa", match: "text", limit: 1, context: 0, includeService: false },
  })
  const thread = createSearchThread(rig.store.path, { killAfterMs: 10 })
  const endless = {
    query: "^(a|a)+$b",
    match: "regex",
    limit: 1,
    context: 0,
    includeService: false,
  } as const
  await expect(thread.find(endless)).rejects.toThrow("did not come to its end")
  await thread.close()
})

test("messages of a branch are found there, too", async () => {
  rig.say(chat, "word one")
  const last = rig.say(chat, "word two")
  const branch = rig.chats.fork(chat, { before_message: last.id })
  expect((await rig.search("word one")).hits.map((hit) => hit.chatId)).toEqual([branch.id, chat])
})

test("nothing is searched once it is closed", async () => {
  rig.say(chat, "word")
  await rig.history.close()
  await expect(rig.search("word")).rejects.toThrow("the kernel is stopping")
})
