/** The tools about chats as a turn calls them. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test"
import { plan, type TestKernel, testKernel, texts } from "../support/kernel.ts"

// Nothing here waits for time; a slow disk may.
setDefaultTimeout(60_000)

let kernel: TestKernel
beforeEach(async () => {
  kernel = await testKernel({ config: { chats: { problem_folder: "troubles" } } })
})
afterEach(() => kernel.dispose())

async function call(chatId: string, name: string, input: object = {}) {
  const steps = [{ call: name, input }, { say: "done" }]
  const events = await kernel.turn(chatId, { text: plan(steps), trusted: true })
  const result = events.find((event) => event.type === "tool_result")
  if (result?.type !== "tool_result") throw new Error("no tool was called")
  return { ...result, said: texts(events), last: events.at(-1)!.type }
}

test("chat_clear erases what was before the turn, which ends as usual; the next one starts with it alone", async () => {
  const { messages } = kernel.api
  const chat = kernel.newChat()
  await kernel.turn(chat, "an old secret")
  await kernel.turn(chat, "another one")
  const answer = await call(chat, "chat_clear")
  expect(answer).toMatchObject({
    ...{ is_error: false, said: "done", last: "done" },
    output: "erased 4 messages; what this turn says stays",
  })
  const left = messages.page(chat, { limit: 100 })
  expect(new Set(left.map(({ turn_id }) => turn_id)).size).toBe(1)
  await kernel.turn(chat, "and now?")
  expect(JSON.stringify(kernel.requests.at(-1)!.messages)).not.toContain("secret")
})

test("CHAT-16: chat_attention flags this chat, another one, or opens one in chats.problem_folder", async () => {
  const { chats } = kernel.api
  const chat = kernel.newChat()
  const other = kernel.newChat()
  await call(chat, "chat_attention", { reason: "the disk is full" })
  expect(chats.get(chat)).toMatchObject({
    ...{ needs_attention: true, attention_reason: "the disk is full" },
  })
  await call(chat, "chat_attention", { chat_id: other })
  expect(chats.get(other)).toMatchObject({ needs_attention: true, attention_reason: null })
  await call(chat, "chat_attention", { off: true })
  expect(chats.get(chat)).toMatchObject({ needs_attention: false, attention_reason: null })

  await call(chat, "chat_attention", { title: "Backup fails", reason: "no space" })
  expect(chats.list({ folder: "troubles" })).toMatchObject([
    { title: "Backup fails", needs_attention: true, attention_reason: "no space" },
  ])
  const both = await call(chat, "chat_attention", { title: "x", chat_id: other })
  expect(both.is_error).toBe(true)
  const unknown = await call(chat, "chat_attention", { chat_id: "nowhere" })
  expect(unknown.is_error).toBe(true)
  const { description } = kernel.api.registry.get("chat_attention")!
  expect(description).toContain("Repair what you can yourself first")
})

test("TATT-2 CHAT-17: chat_delete bins a chat, its history can be restored", async () => {
  const { chats, messages } = kernel.api
  const other = kernel.newChat()
  await kernel.turn(other, "keep me")
  const chat = kernel.newChat()
  expect(await call(chat, "chat_delete", { chat_id: other })).toMatchObject({ is_error: false })
  expect(chats.list({}).map(({ id }) => id)).toEqual([chat])
  expect(chats.list({ deleted: "true" }).map(({ id }) => id)).toEqual([other])
  chats.restore(other)
  expect(messages.page(other, {})).toHaveLength(2)
})

test("TATT-2: a turn that bins its own chat still comes to its end", async () => {
  const { chats } = kernel.api
  const chat = kernel.newChat()
  expect(await call(chat, "chat_delete")).toMatchObject({ said: "done", last: "done" })
  expect(chats.get(chat).deleted_at).not.toBeNull()
  await expect(kernel.turn(chat, "hello?")).rejects.toThrow()
})

test("the tools of chats are for the master alone", () => {
  const gates = ["chat_clear", "chat_attention", "chat_delete"].map(
    (name) => kernel.api.registry.get(name)!.gates,
  )
  expect(gates).toEqual([["master_only"], ["master_only"], ["master_only"]])
})
