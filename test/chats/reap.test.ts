/** The end of ephemeral chats. */
import { afterEach, beforeEach, expect, test } from "bun:test"
import { createRig, DAY_MS, drafts, type Rig, START, text } from "./rig.ts"

let rig: Rig
beforeEach(() => {
  rig = createRig()
})
afterEach(() => rig.close())

const isThere = (id: string) => rig.rows("chats", id).length > 0

test("CHAT-14 SRV-011: a silent ephemeral chat goes for good, sub-agents first, their turns cancelled", async () => {
  const erased: string[] = []
  rig.close()
  rig = createRig({ followers: [{ erased: (id) => erased.push(id) }] })
  const { chats } = rig
  const lead = chats.create({ ephemeral: true }).id
  const agent = chats.create({ folder: "agents" }, { leadChatId: lead }).id
  const agentOfAgent = chats.create({ folder: "agents" }, { leadChatId: agent }).id
  const lasting = chats.create({}).id
  const young = chats.create({ ephemeral: true }).id
  const turnId = rig.turn(agent, { state: "running" })
  rig.messages.append([drafts(agent, turnId).user(text("work"))])
  rig.running.add(agent)
  rig.clock.advance(DAY_MS - 1)
  rig.messages.append([drafts(young).user(text("still here"))])
  expect(await chats.reap()).toEqual([])

  rig.clock.advance(1)
  expect(await chats.reap()).toEqual([agentOfAgent, agent, lead])
  expect(erased).toEqual([agentOfAgent, agent, lead])
  expect(rig.stopped.toSorted()).toEqual([lead, agent, agentOfAgent].toSorted())
  expect([lead, agent, agentOfAgent].some(isThere)).toBe(false)
  expect(rig.rows("messages", agent)).toEqual([])
  expect(rig.rows("turns", agent)).toEqual([])
  expect([lasting, young].every(isThere)).toBe(true)
  expect(rig.events.slice(-3)).toEqual(
    [agentOfAgent, agent, lead].map((chatId) => ({ chatId, event: { type: "chat_deleted" } })),
  )
})

test("CHAT-14: the erasing is one transaction: a fault in it leaves every chat of the family", async () => {
  rig.close()
  rig = createRig({
    followers: [
      {
        erased: (id) => {
          if (id === lead) throw new Error("the disk is full")
        },
      },
    ],
  })
  const lead = rig.chats.create({ ephemeral: true }).id
  const agent = rig.chats.create({}, { leadChatId: lead }).id
  rig.clock.advance(DAY_MS)
  expect(await rig.chats.reap().catch((error: Error) => error.message)).toBe("the disk is full")
  expect([lead, agent].every(isThere)).toBe(true)
})

test("a chat is binned before its turns are stopped, and a turn that does not end is waited for", async () => {
  rig.close()
  const seen: unknown[] = []
  rig = createRig({
    stopTurns: async (id) => {
      seen.push(rig.chats.get(id).deleted_at)
      throw new Error("it hangs")
    },
  })
  const stuck = rig.chats.create({ ephemeral: true }).id
  const idle = rig.chats.create({ ephemeral: true }).id
  rig.running.add(stuck)
  rig.clock.advance(DAY_MS)
  expect(await rig.chats.reap()).toEqual([idle])
  expect(seen).toEqual(["2026-01-06T10:00:00.000Z", "2026-01-06T10:00:00.000Z"])
  rig.running.clear()
  expect(await rig.chats.reap()).toEqual([stuck])
})

test("when the next chat is due is known without looking again and again", async () => {
  expect(rig.chats.nextReapAt()).toBeUndefined()
  rig.chats.create({})
  const first = rig.chats.create({ ephemeral: true }).id
  rig.clock.advance(1000)
  rig.chats.create({ ephemeral: true })
  expect(rig.chats.nextReapAt()).toBe(START + DAY_MS)
  rig.clock.advance(1000)
  rig.messages.append([drafts(first).user(text("hello"))])
  expect(rig.chats.nextReapAt()).toBe(START + DAY_MS + 1000)
  rig.clock.advance(2 * DAY_MS)
  await rig.chats.reap()
  expect(rig.chats.nextReapAt()).toBeUndefined()
})
