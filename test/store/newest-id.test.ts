/** Ids go on where they stopped, also when the clock was set back meanwhile. */
import { expect, test } from "bun:test"
import { rmSync } from "node:fs"
import { manualClock } from "../../src/lib/clock.ts"
import { uuidV7 } from "../../src/lib/id.ts"
import { newestId } from "../../src/store/newest-id.ts"
import { tempFolder as kernelFolder, testKernel } from "../support/kernel.ts"
import { open, tempFolder } from "./support.ts"

const NOON = Date.parse("2026-01-05T12:00:00Z")
const YEAR_MS = 365 * 24 * 3600 * 1000

test("an empty database has no newest id", () => {
  using folder = tempFolder()
  const store = open(folder.path)
  expect(newestId(store)).toBeUndefined()
  store.close()
})

test("the newest id is found whatever bears it: a chat, a turn, a message of any recent chat", () => {
  using folder = tempFolder()
  const store = open(folder.path)
  const newId = uuidV7(manualClock(NOON))
  const addChat = (at: number) => {
    const id = newId()
    store.db.run("INSERT INTO chats (id, created_at, updated_at) VALUES (?, ?, ?)", [id, at, at])
    return id
  }
  const chats = Array.from({ length: 40 }, (_, i) => addChat(NOON + i))
  expect(newestId(store)).toBe(chats.at(-1)!)

  const message = newId()
  store.db.run(
    "INSERT INTO messages (id, chat_id, role, blocks, master, created_at) VALUES (?, ?, 'user', '[]', 1, ?)",
    [message, chats[30]!, NOON],
  )
  expect(newestId(store)).toBe(message)

  const turn = newId()
  store.db.run(
    "INSERT INTO turns (id, chat_id, source, state, created_at) VALUES (?, ?, 'message', 'done', ?)",
    [turn, chats[0]!, NOON],
  )
  expect(newestId(store)).toBe(turn)
  store.close()
})

test("after a restart with the clock a year back, what is said next still comes last", async () => {
  const folder = kernelFolder()
  const at = (ms: number) => testKernel({ folder, clock: manualClock(ms) })
  const first = await at(NOON)
  const [spoken, silent] = [first.newChat(), first.newChat()]
  await first.turn(spoken, "one")
  await first.api.turns.silent(silent, { text: "one" })
  await first.close(0)

  for (const words of ["two", "three"]) {
    const later = await at(NOON - YEAR_MS)
    await later.turn(spoken, words)
    await later.api.turns.silent(silent, { text: words })
    await later.close(0)
  }

  const last = await at(NOON - 2 * YEAR_MS)
  const said = (chatId: string) =>
    last.api.messages
      .page(chatId, {})
      .filter(({ role }) => role === "user")
      .map(({ blocks }) => (blocks[0]?.type === "text" ? blocks[0].text : ""))
  expect([said(spoken), said(silent)]).toEqual([
    ["one", "two", "three"],
    ["one", "two", "three"],
  ])
  await last.close(0)
  rmSync(folder, { recursive: true, force: true })
})
