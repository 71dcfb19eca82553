/** Rewinding and clearing a chat. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import fc from "fast-check"
import type { ChatFollower } from "../../src/chats/follower.ts"
import { history, type Step } from "./history.ts"
import { brokenPairs, call, createRig, drafts, gist, type Rig, result, text } from "./rig.ts"

let rig: Rig
let chatId: string
let followed: unknown[]
const follower: ChatFollower = {
  cut: (cut) => followed.push(cut),
  cleared: (id) => followed.push({ cleared: id }),
}
beforeEach(() => {
  followed = []
  rig = createRig({ followers: [follower] })
  chatId = rig.chats.create({}).id
})
afterEach(() => rig.close())

const lines = () => rig.messages.forPrompt(chatId).map(gist)
const failure = (work: Promise<unknown>) => work.catch((error: unknown) => error)

/** Two turns; the second calls two tools. */
function talk() {
  const turns = [rig.turn(chatId), rig.turn(chatId)] as const
  const [one, two] = turns.map((id) => drafts(chatId, id))
  const stored = rig.messages.append([
    ...[one!.user(text("one")), one!.assistant(text("first"))],
    ...[two!.user(text("two")), two!.assistant(text("I look"), call("a"), call("b"))],
    ...[two!.user(result("a")), two!.user(result("b")), two!.assistant(text("second"))],
  ])
  return { turns, ids: stored.map((message) => message.id) }
}

describe("rewinding", () => {
  test("CHAT-25: a message and everything later go, with the turns that began there", async () => {
    const { turns, ids } = talk()
    expect(await rig.chats.rewind(chatId, ids[2]!)).toEqual(ids.slice(2))
    expect(lines()).toEqual(["user: one", "assistant: first"])
    expect(rig.rows("turns", chatId)).toMatchObject([{ id: turns[0] }])
    expect(rig.stopped).toEqual([chatId])
    expect(followed).toEqual([{ chatId, from: ids[2] }])
    expect(rig.events.at(-1)).toEqual({
      ...{ chatId, event: { type: "messages_changed", reason: "rewind" } },
    })
  })

  test("CHAT-25: a call whose results went goes too, with the results that it had", async () => {
    const { turns, ids } = talk()
    expect(await rig.chats.rewind(chatId, ids[5]!)).toEqual(ids.slice(3))
    expect(lines()).toEqual(["user: one", "assistant: first", "user: two"])
    expect(followed).toEqual([{ chatId, from: ids[3] }])
    // The turn still holds its question.
    expect(rig.rows("turns", chatId).map((row) => row.id)).toEqual([...turns])
  })

  test("a complete unit before the message stays", async () => {
    const { ids } = talk()
    expect(await rig.chats.rewind(chatId, ids[6]!)).toEqual(ids.slice(6))
    expect(lines().at(-1)).toBe("result b: ok")
  })

  test("the count of the context is dropped when the cut covers its message", async () => {
    const { ids } = talk()
    rig.chats.setContextAnchor(chatId, 10, ids[1]!)
    await rig.chats.rewind(chatId, ids[2]!)
    expect(rig.chats.contextAnchor(chatId)).toEqual({ tokens: 10, messageId: ids[1]! })
    await rig.chats.rewind(chatId, ids[1]!)
    expect(rig.chats.contextAnchor(chatId)).toBeUndefined()
  })

  test("a running turn is stopped first, and what it stored meanwhile goes as well", async () => {
    rig.close()
    rig = createRig({
      stopTurns: async (id) => {
        rig.messages.append([drafts(id).assistant(text("half an answer"))])
        rig.running.delete(id)
      },
    })
    chatId = rig.chats.create({}).id
    const { ids } = talk()
    rig.running.add(chatId)
    expect(await rig.chats.rewind(chatId, ids[2]!)).toHaveLength(6)
    expect(lines()).toEqual(["user: one", "assistant: first"])
  })

  test("a turn that somebody began meanwhile keeps its message: the cut is refused", async () => {
    rig.close()
    rig = createRig({ stopTurns: async (id) => void rig.running.add(id) })
    chatId = rig.chats.create({}).id
    const { ids } = talk()
    expect(await failure(rig.chats.rewind(chatId, ids[0]!))).toMatchObject({ code: "conflict" })
    expect(await failure(rig.chats.clear(chatId))).toMatchObject({ code: "conflict" })
    expect(lines()).toHaveLength(7)
  })

  test("an unknown message is not_found, and no turn is stopped for it", async () => {
    talk()
    expect(await failure(rig.chats.rewind(chatId, "no"))).toMatchObject({ code: "not_found" })
    expect(rig.stopped).toEqual([])
    expect(lines()).toHaveLength(7)
  })

  test("CHAT-25: after any cut of any history the pairs that are left are valid", async () => {
    await fc.assert(
      fc.asyncProperty(history, fc.nat(), async (steps: Step[], at) => {
        chatId = rig.chats.create({}).id
        const stored = rig.messages.append(steps.flatMap((step, n) => step(chatId, n)))
        const cut = at % stored.length
        const gone = await rig.chats.rewind(chatId, stored[cut]!.id)
        const left = rig.messages.forPrompt(chatId)
        expect(brokenPairs(left)).toEqual([])
        expect(left).toEqual(stored.slice(0, stored.length - gone.length))
        expect(gone).toEqual(stored.slice(left.length).map((message) => message.id))
        expect(left.length).toBeLessThanOrEqual(cut)
      }),
      { numRuns: 100 },
    )
  })
})

test("CHAT-26: clearing erases messages, turns and the count, and keeps the chat and its other facts", async () => {
  rig.chats.patch(chatId, { title: "Дом" })
  const { ids } = talk()
  rig.chats.setContextAnchor(chatId, 10, ids[1]!)
  const other = rig.chats.create({}).id
  rig.messages.append([drafts(other).user(text("mine"))])
  rig.running.add(chatId)
  await rig.chats.clear(chatId)
  expect(rig.stopped).toEqual([chatId])
  expect(lines()).toEqual([])
  expect(rig.rows("turns", chatId)).toEqual([])
  expect(rig.chats.contextAnchor(chatId)).toBeUndefined()
  expect(rig.chats.get(chatId).title).toBe("Дом")
  expect(rig.messages.forPrompt(other)).toHaveLength(1)
  expect(followed).toEqual([{ cleared: chatId }])
  expect(rig.events.at(-1)).toEqual({
    ...{ chatId, event: { type: "messages_changed", reason: "clear" } },
  })
})
