/** Branches: what is copied, what is inherited, how a cut in mid-turn is closed. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import fc from "fast-check"
import type { ChatFollower } from "../../src/chats/follower.ts"
import { isHiddenFromModel, machineTextKind } from "../../src/schema/machine-text.ts"
import type { Message } from "../../src/schema/message.ts"
import { history, type Step } from "./history.ts"
import {
  brokenPairs,
  call,
  createRig,
  drafts,
  gist,
  type Rig,
  refusal,
  result,
  text,
} from "./rig.ts"

let rig: Rig
let followed: unknown[]
let follower: ChatFollower
beforeEach(() => {
  followed = []
  follower = { forked: (fork) => followed.push(fork) }
  rig = createRig({ followers: [follower] })
})
afterEach(() => rig.close())

/** A chat with two turns: a question with two calls and its answer, then a second question. */
function talk(chatId: string): Message[] {
  const turnId = rig.turn(chatId)
  const { user, assistant } = drafts(chatId, turnId)
  return rig.messages.append([
    user(text("go")),
    { ...assistant(text("I look"), call("a"), call("b")), created_at: 5000 },
    { ...user(result("a")), created_at: 6000 },
    { ...user(result("b")), created_at: 7000 },
    assistant(text("done")),
    drafts(chatId, rig.turn(chatId)).user(text("more")),
  ])
}

const everything = (chatId: string) =>
  (["chats", "messages", "turns"] as const).map((table) => rig.rows(table, chatId))

describe("a branch", () => {
  test("CHAT-19 CHAT-23 FRG-007: begins with its marker, then holds what came strictly before the message", () => {
    const parent = rig.chats.create({ title: "Ремонт" })
    const stored = talk(parent.id)
    const before = everything(parent.id)
    rig.clock.advance(1000)

    const branch = rig.chats.fork(parent.id, { before_message: stored[5]!.id })

    expect(everything(parent.id)).toEqual(before)
    const [marker, ...copies] = rig.messages.forPrompt(branch.id)
    expect(marker).toMatchObject({
      role: "user",
      turn_id: null,
      blocks: [text(`[forked] Branched from "Ремонт" before message ${stored[5]!.id}.`)],
    })
    const markerText = gist(marker!).slice("user: ".length)
    expect(machineTextKind(markerText)).toBe("fork_marker")
    expect(isHiddenFromModel(markerText)).toBe(true)
    const [first] = rig.items.itemPage(branch.id, {})
    expect(first).toMatchObject({ kind: "machine_note", note: "fork_marker", text: markerText })

    const turnId = copies[0]!.turn_id
    expect(turnId).not.toBe(stored[0]!.turn_id)
    expect(copies).toEqual(
      stored.slice(0, 5).map((message, n) => ({
        ...message,
        id: copies[n]!.id,
        chat_id: branch.id,
        turn_id: turnId,
      })),
    )
    const ids = [marker!, ...copies].map((message) => message.id)
    expect(ids.toSorted()).toEqual(ids)
    expect(branch).toMatchObject({
      ...{ forked_from: parent.id, forked_at_message: stored[5]!.id, title: "Ремонт" },
      ...{ created_at: "2026-01-05T10:00:01.000Z", updated_at: "2026-01-05T10:00:01.000Z" },
    })
    expect(rig.events.at(-1)).toEqual({ chatId: branch.id, event: { type: "chat_created" } })
  })

  test("CHAT-20 API-034: inherits how its parent is set up, and not whose it is", () => {
    const parent = rig.chats.create({
      ...{ title: "x", folder: "code", project: "eva", model: "opus", effort: "high" },
      ...{ workdir: "/srv", workdir_on: "server", surface: "telegram", ephemeral: true },
    })
    rig.chats.setToolset(parent.id, "coding")
    rig.chats.setCompactProfile(parent.id, "low")
    rig.chats.patch(parent.id, { needs_attention: true, attention_reason: "look" })
    const [message] = rig.messages.append([drafts(parent.id).user(text("a"))])
    const body = { before_message: message!.id, title: "y" }
    expect(rig.chats.fork(parent.id, body)).toMatchObject({
      ...{ title: "y", folder: "code", project: "eva", model: "opus", effort: "high" },
      ...{ workdir: "/srv", workdir_on: "server", toolset: "coding", compact_profile: "low" },
      ...{ surface: null, ephemeral: false, needs_attention: false, attention_reason: null },
    })
  })

  test("CHAT-22 FRG-009 TOOL-38: a cut in mid-turn closes every open call as a cancel does", () => {
    const parent = rig.chats.create({}).id
    const stored = talk(parent)
    const closed = "[not executed: turn cancelled]"
    const branch = (n: number) =>
      rig.messages.forPrompt(rig.chats.fork(parent, { before_message: stored[n]!.id }).id)
    const tail = (messages: Message[]) => messages.slice(2).map(gist)
    expect(tail(branch(2))).toEqual([
      "assistant: I look + call a + call b",
      `result a: ${closed} + result b: ${closed}`,
    ])
    const half = branch(3)
    expect(tail(half)).toEqual([
      "assistant: I look + call a + call b",
      "result a: ok",
      `result b: ${closed}`,
    ])
    expect(half.at(-1)).toMatchObject({
      role: "user",
      created_at: "1970-01-01T00:00:06.000Z",
      turn_id: half.at(-2)!.turn_id,
      blocks: [{ is_error: true }],
    })
    expect(tail(branch(4)).at(-1)).toBe("result b: ok")
  })

  test("CTX-38: the count of the context rides along when its message was copied, else it is dropped", () => {
    const parent = rig.chats.create({}).id
    const stored = talk(parent)
    rig.chats.setContextAnchor(parent, 1234, stored[4]!.id)
    const rides = rig.chats.fork(parent, { before_message: stored[5]!.id }).id
    expect(rig.chats.contextAnchor(rides)).toEqual({
      tokens: 1234,
      messageId: rig.messages.forPrompt(rides).at(-1)!.id,
    })
    const dropped = rig.chats.fork(parent, { before_message: stored[4]!.id }).id
    expect(rig.chats.contextAnchor(dropped)).toBeUndefined()
    expect(rig.chats.contextAnchor(parent)).toEqual({ tokens: 1234, messageId: stored[4]!.id })
  })

  test("CHAT-24: is made from a branch too, outlives its parent, and owes nothing of its spend", async () => {
    const parent = rig.chats.create({ ephemeral: true }).id
    const stored = talk(parent)
    rig.spend(parent)
    const child = rig.chats.fork(parent, { before_message: stored[5]!.id }).id
    const last = rig.messages.forPrompt(child).at(-1)!
    const grandchild = rig.chats.fork(child, { before_message: last.id })
    await rig.chats.remove(parent)
    rig.clock.advance(100 * 24 * 3_600_000)
    expect(await rig.chats.reap()).toEqual([parent])
    expect(rig.chats.get(child).forked_from).toBe(parent)
    expect(grandchild.forked_from).toBe(child)
    expect(
      [rig.rows("spend", parent), rig.rows("spend", child)].map((rows) => rows.length),
    ).toEqual([...[1, 0]])
    const lines = rig.messages.forPrompt(grandchild.id).map(gist)
    expect(lines.map((line) => line.split(" ", 2).join(" "))).toEqual([
      ...["user: [forked]", "user: [forked]", "user: go", "assistant: I"],
      ...["result a:", "result b:"],
    ])
  })

  test("a turn keeps its fate in the branch: refused ones stay out, unfinished ones are cancelled", () => {
    const parent = rig.chats.create({}).id
    const bad = rig.turn(parent, { excluded: true, state: "failed" })
    const live = rig.turn(parent, { state: "running" })
    rig.store.db.run("UPDATE turns SET ended_at = NULL WHERE id = ?", [live])
    rig.messages.append([
      drafts(parent, bad).user(text("bad")),
      drafts(parent, live).user(text("live")),
    ])
    const [last] = rig.messages.append([drafts(parent, live).assistant(text("so"))])
    const branch = rig.chats.fork(parent, { before_message: last!.id }).id
    expect(rig.messages.forPrompt(branch).map(gist).slice(1)).toEqual(["user: live"])
    expect(rig.messages.page(branch, {}).map(gist).slice(1)).toEqual(["user: bad", "user: live"])
    expect(rig.rows("turns", branch)).toMatchObject([
      { state: "failed", excluded: 1, client_key: null },
      { state: "cancelled", excluded: 0, client_key: null },
    ])
  })

  test("a message of another chat, or none, is not_found and leaves nothing behind", () => {
    const parent = rig.chats.create({}).id
    const [foreign] = rig.messages.append([drafts(rig.chats.create({}).id).user(text("x"))])
    for (const before_message of [foreign!.id, "no", ""]) {
      const refused = refusal(() => rig.chats.fork(parent, { before_message }))
      expect(refused).toMatchObject({ code: "not_found" })
    }
    expect(rig.chats.list({})).toHaveLength(2)
  })

  test("rooms that keep facts about chats are told which message became which, in the same transaction", () => {
    const parent = rig.chats.create({}).id
    const stored = talk(parent)
    const branch = rig.chats.fork(parent, { before_message: stored[1]!.id }).id
    const [told] = followed as Parameters<NonNullable<ChatFollower["forked"]>>
    expect(told).toMatchObject({ from: parent, to: branch })
    expect(told.newIdOf(stored[0]!.id)).toBe(rig.messages.forPrompt(branch)[1]!.id)
    expect(told.newIdOf(stored[1]!.id)).toBeUndefined()

    follower.forked = () => {
      throw new Error("no room")
    }
    expect(() => rig.chats.fork(parent, { before_message: stored[1]!.id })).toThrow("no room")
    expect(rig.chats.list({})).toHaveLength(2)
    expect(rig.events).toHaveLength(2)
  })
})

test("CHAT-22: after any cut of any history the pairs of the branch are valid", () => {
  fc.assert(
    fc.property(history, fc.nat(), (steps: Step[], at) => {
      const parent = rig.chats.create({}).id
      const stored = rig.messages.append(steps.flatMap((step, n) => step(parent, n)))
      const cut = at % stored.length
      const branch = rig.chats.fork(parent, { before_message: stored[cut]!.id }).id
      const copied = rig.messages.forPrompt(branch)
      expect(brokenPairs(copied)).toEqual([])
      expect(copied.slice(1, cut + 1).map(gist)).toEqual(stored.slice(0, cut).map(gist))
      expect(brokenPairs(rig.messages.forPrompt(parent))).toEqual([])
    }),
    { numRuns: 100 },
  )
})
