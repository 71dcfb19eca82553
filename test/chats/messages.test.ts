/** Appending and reading messages. */
import { afterEach, beforeEach, expect, test } from "bun:test"
import fc from "fast-check"
import { call, createRig, drafts, gist, type Rig, refusal, result, text } from "./rig.ts"

let rig: Rig
let chatId: string
beforeEach(() => {
  rig = createRig()
  chatId = rig.chats.create({}).id
})
afterEach(() => rig.close())

const gists = (query: Parameters<Rig["messages"]["page"]>[1] = {}) =>
  rig.messages.page(chatId, query).map(gist)

test("a message comes back as it was stored, with what only some have", () => {
  const turnId = rig.turn(chatId)
  const [message] = rig.messages.append([
    {
      ...{
        chat_id: chatId,
        turn_id: turnId,
        role: "user",
        blocks: [text("привет")],
        master: false,
      },
      ...{ sender: "p7", anchor: "a:1", ext_id: "12", reply_to_ext_id: "11", reply_to_text: "да?" },
      ...{ closes: ["9"], created_at: Date.parse("2025-12-31T23:59:59.5Z") },
    },
  ])
  expect(message).toEqual({
    ...{
      id: message!.id,
      chat_id: chatId,
      turn_id: turnId,
      role: "user",
      blocks: [text("привет")],
    },
    ...{ created_at: "2025-12-31T23:59:59.500Z", master: false, sender: "p7", anchor: "a:1" },
    ...{ ext_id: "12", reply_to_ext_id: "11", reply_to_text: "да?", closes: ["9"] },
  })
  expect(rig.messages.get(chatId, message!.id)).toEqual(message)
  expect(rig.messages.ofTurn(chatId, turnId)).toEqual([message!])
  expect(rig.messages.get(chatId, "no")).toBeUndefined()
  expect(rig.messages.get("other", message!.id)).toBeUndefined()
})

test("what no database and no provider can carry is taken out of text, calls and keys", () => {
  const [message] = rig.messages.append([
    drafts(chatId).assistant(text("a\0b\ud800c"), {
      type: "tool_use",
      id: "1",
      name: "x",
      input: { "k\0": ["\udc00", "\\u0000", 1, null] },
    }),
  ])
  expect(message!.blocks).toEqual([
    text("ab\ufffdc"),
    { type: "tool_use", id: "1", name: "x", input: { k: ["\ufffd", "\\u0000", 1, null] } },
  ])
  expect(rig.messages.forPrompt(chatId)).toEqual([message!])
})

test("a message of an unknown chat takes the whole batch with it", () => {
  const batch = [drafts(chatId).user(text("a")), drafts("no").user(text("b"))]
  expect(refusal(() => rig.messages.append(batch))).toMatchObject({ code: "not_found" })
  expect(gists()).toEqual([])
})

test("a caller's transaction holds the append, and undoes it", () => {
  const undone = () =>
    rig.store.write(() => {
      rig.messages.append([drafts(chatId).user(text("a"))])
      throw new Error("no")
    })
  expect(undone).toThrow("no")
  expect(gists()).toEqual([])
  const id = rig.newId()
  expect(rig.messages.append([{ ...drafts(chatId).user(text("b")), id }])[0]!.id).toBe(id)
})

test("pages run from the newest back, oldest first within, 50 by default", () => {
  const { user } = drafts(chatId)
  const stored = rig.messages.append(Array.from({ length: 120 }, (_, n) => user(text(`${n}`))))
  const numbers = (query: object) => gists(query).map((line) => Number(line.slice(6)))
  const range = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n)
  expect(numbers({})).toEqual(range(70, 120))
  expect(numbers({ before: stored[70]!.id })).toEqual(range(20, 70))
  expect(numbers({ before: stored[20]!.id })).toEqual(range(0, 20))
  expect(numbers({ before: stored[0]!.id })).toEqual([])
  expect(numbers({ limit: 500 })).toEqual(range(0, 120))
  expect(numbers({ around: stored[60]!.id, limit: 5 })).toEqual([58, 59, 60, 61, 62])
  expect(numbers({ around: stored[60]!.id, limit: 1 })).toEqual([60])
  expect(numbers({ around: stored[60]!.id, limit: 2 })).toEqual([60, 61])
  expect(numbers({ around: stored[119]!.id, limit: 5 })).toEqual([115, 116, 117, 118, 119])
  expect(numbers({ around: stored[0]!.id, limit: 5 })).toEqual([0, 1, 2])
})

test("a cursor that is no message of this chat, or a wrong limit, is invalid", () => {
  const other = rig.chats.create({}).id
  const [foreign] = rig.messages.append([drafts(other).user(text("x"))])
  const bad = [
    { before: foreign!.id },
    { around: "no" },
    { limit: 0 },
    { limit: 501 },
    { limit: 1.5 },
  ]
  for (const query of bad) {
    expect(refusal(() => rig.messages.page(chatId, query))).toMatchObject({
      ...{ code: "invalid", path: Object.keys(query)[0] },
    })
  }
  const both = { before: foreign!.id, around: foreign!.id }
  expect(refusal(() => rig.messages.page(other, both))).toMatchObject({ code: "invalid" })
})

test("a page never begins with a result whose call lies before it", () => {
  const { user, assistant } = drafts(chatId)
  rig.messages.append([
    ...[user(text("go")), assistant(call("a"), call("b"))],
    ...[user(result("a")), user(result("b")), assistant(text("done"))],
  ])
  expect(gists({ limit: 1 })).toEqual(["assistant: done"])
  const whole = ["call a + call b", "result a: ok", "result b: ok", "assistant: done"]
  expect(gists({ limit: 2 })).toEqual(whole)
  expect(gists({ limit: 3 })).toEqual(whole)
  expect(gists({ limit: 4 })).toEqual(whole)
  expect(gists({ limit: 5 })).toEqual(["user: go", ...whole])
})

test("history is read whole although a result has lost its call", () => {
  const { user, assistant } = drafts(chatId)
  rig.messages.append([user(text("go")), user(result("lost")), assistant(text("done"))])
  expect(gists({ limit: 2 })).toEqual(["result lost: ok", "assistant: done"])
})

test("pages joined give the history, whatever their size", () => {
  const { user, assistant } = drafts(chatId)
  let calls = 0
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 12 }),
      fc.integer({ min: 1, max: 6 }),
      (steps, limit) => {
        rig.store.write(() => {
          rig.store.db.run("DELETE FROM messages")
        })
        for (const width of steps) {
          const ids = Array.from({ length: width }, () => `c${calls++}`)
          rig.messages.append([
            width === 0 ? user(text("hi")) : assistant(text("so"), ...ids.map((id) => call(id))),
            ...ids.map((id) => user(result(id))),
          ])
        }
        const whole = rig.messages.forPrompt(chatId)
        const joined: typeof whole = []
        for (;;) {
          const before = joined[0]?.id
          const page = rig.messages.page(chatId, { limit, before })
          if (page.length === 0) break
          expect(page[0]!.blocks[0]!.type).not.toBe("tool_result")
          joined.unshift(...page)
        }
        expect(joined).toEqual(whole)
      },
    ),
    { numRuns: 60 },
  )
})

test("a turn that a provider refused is shown to people and left out of prompts", () => {
  const good = rig.turn(chatId)
  const bad = rig.turn(chatId, { excluded: true })
  rig.messages.append([
    drafts(chatId, good).user(text("one")),
    drafts(chatId, bad).user(text("two")),
    drafts(chatId).user(text("silent")),
  ])
  expect(rig.messages.forPrompt(chatId).map(gist)).toEqual(["user: one", "user: silent"])
  expect(gists()).toEqual(["user: one", "user: two", "user: silent"])
})

test("what a prompt reads takes time by the number of messages, not by its square", () => {
  const { user } = drafts(chatId)
  const body = "слово ".repeat(30)
  const fastestOf = (count: number): number => {
    const times = Array.from({ length: 7 }, () => {
      const started = performance.now()
      expect(rig.messages.forPrompt(chatId)).toHaveLength(count)
      return performance.now() - started
    })
    return Math.min(...times)
  }
  const append = (length: number) =>
    rig.messages.append(Array.from({ length }, () => user(text(body))))
  append(1000)
  const thousand = fastestOf(1000)
  append(9000)
  // Ten times as many. By the square it would take a hundred times as long.
  expect(fastestOf(10_000)).toBeLessThan(50 * thousand)
})
