/** `history_search` as a turn calls it. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test"
import { plan, type TestKernel, testKernel } from "../support/kernel.ts"

// Nothing here waits for time; a slow disk may.
setDefaultTimeout(60_000)

let kernel: TestKernel
beforeEach(async () => {
  kernel = await testKernel()
})
afterEach(() => kernel.dispose())

/** What the tool answers in a turn of the master's from a trusted place, unless told otherwise. */
async function ask(
  chatId: string,
  input: object,
  more: { trusted?: boolean; sender?: string } = {},
) {
  const text = plan([{ call: "history_search", input }, { say: "done" }])
  const events = await kernel.turn(chatId, { text, trusted: true, ...more })
  const result = events.find((event) => event.type === "tool_result")
  if (result?.type !== "tool_result") throw new Error("no tool was called")
  return result
}
const outputOf = async (...args: Parameters<typeof ask>) => (await ask(...args)).output
/** Instants and ids differ from run to run. */
const steady = (text: string) =>
  text.replace(/\d{4}-\d\d-\d\d \d\d:\d\dZ/g, "TIME").replace(/chat [\da-f-]{36}/g, "chat ID")

test("THIST-1 C-10: all chats are searched, those of surfaces too, by substring and by regular expression", async () => {
  const { chats } = kernel.api
  const oslo = chats.create({ title: "Oslo" }).id
  const group = chats.create({ title: "Friends", surface: "telegram" }).id
  await kernel.turn(oslo, { text: "The ferry 4711 leaves at nine", trusted: true })
  await kernel.turn(group, "Паром 4712 уже ушёл")
  const here = kernel.newChat()
  // The turn that asks is left out: it would find its own question.
  const found = await ask(here, { query: "ferry \\d+|паром \\d+", match: "regex" })
  expect(found.is_error).toBe(false)
  expect(steady(found.output)).toBe(
    [
      "== Friends · telegram · chat ID",
      "TIME agent: Паром 4712 уже ушёл",
      "TIME master: Паром 4712 уже ушёл",
      "",
      "== Oslo · chat ID",
      "TIME agent: The ferry 4711 leaves at nine",
      "TIME master: The ferry 4711 leaves at nine",
    ].join("\n"),
  )
  expect(steady(await outputOf(here, { query: "УЖЕ УШЕЛ", who: "agent" }))).toBe(
    "== Friends · telegram · chat ID\nTIME agent: Паром 4712 уже ушёл",
  )
  const { tool } = kernel.api.registry.list().find(({ tool }) => tool.name === "history_search")!
  expect(tool).toMatchObject({ gates: ["master_only"], traits: { windowed: true } })
})

test("FRG-019 CTX-25 THIST-2: tool traffic is found only with include_service", async () => {
  const chat = kernel.newChat()
  const lookup = plan([{ call: "person_list", input: { query: "zanzibar" } }, { say: "nobody" }])
  await kernel.turn(chat, { text: lookup, trusted: true })
  const input = { query: "no persons yet", chat_id: "here" }
  expect(await outputOf(chat, input)).toBe("nothing found")
  const found = steady(
    await outputOf(chat, { ...input, include_service: true, from: "2020-01-01" }),
  )
  expect(found).toContain("no persons yet (service text)")
})

test("context, pages and dates", async () => {
  const chat = kernel.newChat()
  for (const word of ["one", "two", "three"])
    await kernel.turn(chat, { text: `lantern ${word}`, trusted: true })
  const other = kernel.newChat()
  const first = await outputOf(other, { query: "lantern", who: "master", limit: 2, context: 1 })
  expect(steady(first)).toContain(
    "  TIME agent: lantern two\n→ TIME master: lantern three\n  TIME agent: lantern three",
  )
  const before = Number(/before: (\d+)\.$/.exec(first)![1])
  const rest = await outputOf(other, {
    query: "lantern",
    who: "master",
    limit: 2,
    before,
    chat_id: chat,
  })
  expect(steady(rest)).toEndWith("TIME master: lantern one")
  const past = { query: "lantern", to: "2020-01-01" }
  expect(await outputOf(other, past)).toBe("nothing found")
  const wrong = await ask(other, { query: "lantern", from: "yesterday" })
  expect(wrong).toMatchObject({ is_error: true })
  expect(wrong.output).toContain("from must be a date such as 2026-11-30")
})

test("where others may read along only this chat is searched", async () => {
  const secret = kernel.newChat()
  await kernel.turn(secret, { text: "the safe opens with 4711", trusted: true })
  const group = kernel.newChat()
  await kernel.turn(group, { text: "the safe is heavy", trusted: false })
  const found = await outputOf(group, { query: "the safe" }, { trusted: false })
  expect(found).toContain("the safe is heavy")
  expect(found).not.toContain("4711")
  const refused = await ask(group, { query: "the safe", chat_id: secret }, { trusted: false })
  expect(refused.is_error).toBe(true)
  expect(refused.output).toContain("only this chat can be searched")
})

test("a guest cannot search, and nothing of it reaches the model", async () => {
  const chat = kernel.newChat()
  await kernel.turn(chat, { text: "the safe opens with 4711", trusted: true })
  const anna = kernel.api.persons.resolve({ source: "telegram", ext_id: "7", name: "Anna" })
  const refused = await ask(
    kernel.newChat(),
    { query: "safe" },
    { trusted: false, sender: anna.id },
  )
  expect(refused.is_error).toBe(true)
  expect(refused.output).not.toContain("4711")
})
