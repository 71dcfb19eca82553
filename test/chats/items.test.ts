/** Pages of items: derived from messages, cut by messages, joined without a seam. */
import { afterEach, beforeEach, expect, test } from "bun:test"
import fc from "fast-check"
import { itemsOfMessages } from "../../src/schema/item-reducer.ts"
import { history, type Step } from "./history.ts"
import { call, createRig, drafts, type Rig, refusal, result, text } from "./rig.ts"

let rig: Rig
let chatId: string
beforeEach(() => {
  rig = createRig()
  chatId = rig.chats.create({}).id
})
afterEach(() => rig.close())

const page = (query: Parameters<Rig["items"]["itemPage"]>[1] = {}) =>
  rig.items.itemPage(chatId, query)
const whole = () =>
  itemsOfMessages(rig.messages.forPrompt(chatId), (id) => `http://eva/images/${id}`)
const hidden = { type: "thinking", text: "", redacted: "…" } as const

test("ITM-013: items follow the stored messages: what is stored is drawn, what is erased is gone", async () => {
  const { user, assistant } = drafts(chatId)
  const stored = rig.messages.append([
    ...[user(text("go")), assistant(text("I look"), call("a")), user(result("a"))],
    assistant(text("done"), { type: "image", id: "i1", media_type: "image/png" }),
  ])
  expect(page().map(({ id, kind, status }) => [id, kind, status])).toEqual([
    [`${stored[0]!.id}:0`, "user_message", "completed"],
    [`${stored[1]!.id}:0`, "agent_message", "completed"],
    [`${stored[1]!.id}:1`, "tool_call", "completed"],
    [`${stored[3]!.id}:0`, "agent_message", "completed"],
    [`${stored[3]!.id}:1`, "image", "completed"],
  ])
  expect(page().at(-1)).toMatchObject({ image_id: "i1", url: "http://eva/images/i1" })
  expect(page()).toEqual(whole())
  await rig.chats.rewind(chatId, stored[1]!.id)
  expect(page().map((item) => item.id)).toEqual([`${stored[0]!.id}:0`])
})

test("ITM-008: limit counts messages; a page may hold more or fewer items, and only the end is empty", () => {
  const { user, assistant } = drafts(chatId)
  const stored = rig.messages.append([
    ...[user(text("one")), assistant(hidden), assistant(hidden), assistant(hidden)],
    assistant(text("a"), text("b"), text("c")),
  ])
  const newest = page({ limit: 1 })
  expect(newest.map((item) => item.id)).toEqual([0, 1, 2].map((n) => `${stored[4]!.id}:${n}`))
  // Three messages that draw nothing are walked over: an empty page would say that the chat begins here.
  const older = page({ limit: 1, before: newest[0]!.id })
  expect(older.map((item) => item.id)).toEqual([`${stored[0]!.id}:0`])
  expect(page({ limit: 1, before: older[0]!.id })).toEqual([])
})

test("a cursor inside a message leaves its earlier items to the page", () => {
  const { user, assistant } = drafts(chatId)
  rig.messages.append([user(text("one")), assistant(text("a"), text("b"), text("c"))])
  const items = page()
  for (const [at, item] of items.entries()) {
    expect(page({ before: item.id })).toEqual(items.slice(0, at))
  }
  const { id } = items[3]!
  expect(page({ before: id.slice(0, id.indexOf(":")) })).toEqual(items.slice(0, 1))
})

test("around holds the item in its middle, by item or by message", () => {
  const { user } = drafts(chatId)
  const stored = rig.messages.append(Array.from({ length: 20 }, (_, n) => user(text(`${n}`))))
  const around = (id: string) =>
    page({ around: id, limit: 3 }).map((item) => ("text" in item ? item.text : ""))
  expect(around(stored[10]!.id)).toEqual(["9", "10", "11"])
  expect(around(`${stored[10]!.id}:0`)).toEqual(["9", "10", "11"])
})

test("a cursor that is no item of this chat is invalid", () => {
  const other = rig.chats.create({}).id
  const [foreign] = rig.messages.append([drafts(other).user(text("x"))])
  const [own] = rig.messages.append([drafts(chatId).user(text("x"))])
  const bad = ["no", `${foreign!.id}:0`, `${own!.id}:1`, `${own!.id}:x`, `${own!.id}:-1`, ":", ""]
  for (const before of bad) {
    expect(refusal(() => page({ before }))).toMatchObject({ code: "invalid", path: "before" })
  }
  for (const around of ["no", `${foreign!.id}:0`, `${own!.id}:x`]) {
    expect(refusal(() => page({ around }))).toMatchObject({ code: "invalid", path: "around" })
  }
  expect(refusal(() => page({ limit: 0 }))).toMatchObject({ code: "invalid", path: "limit" })
})

test("a call keeps its result when the result lies on the next page", () => {
  const { user, assistant } = drafts(chatId)
  const stored = rig.messages.append([
    ...[user(text("go")), assistant(call("a"), call("b")), user(result("a")), user(result("b"))],
    ...[user(text("more")), assistant(call("a")), user(result("a", "other"))],
  ])
  const items = page({ around: stored[0]!.id, limit: 2 })
  expect(items).toMatchObject([
    { kind: "user_message" },
    { call_id: "a", status: "completed", result: { output: "ok" } },
    { call_id: "b", status: "completed" },
  ])
  expect(page({ before: stored[3]!.id })[2]).toMatchObject({ call_id: "b", status: "completed" })
})

test("a call without a result runs while its turn runs, and was cut off otherwise", () => {
  const live = rig.turn(chatId, { state: "running" })
  const dead = rig.turn(chatId, { state: "interrupted" })
  rig.messages.append([
    drafts(chatId, dead).assistant(call("a")),
    drafts(chatId, live).assistant(call("b")),
  ])
  expect(page()).toMatchObject([
    { call_id: "a", status: "aborted" },
    { call_id: "b", status: "running" },
  ])
})

test("ITM-007 ITM-008: pages joined give the items of the whole history, whatever their size", () => {
  fc.assert(
    fc.property(history, fc.integer({ min: 1, max: 4 }), (steps: Step[], limit) => {
      chatId = rig.chats.create({}).id
      rig.messages.append(steps.flatMap((step, n) => step(chatId, n)))
      const joined: ReturnType<typeof page> = []
      for (;;) {
        const before = joined[0]?.id
        const items = page({ limit, before })
        if (items.length === 0) break
        joined.unshift(...items)
      }
      expect(joined).toEqual(whole())
    }),
    { numRuns: 100 },
  )
})
