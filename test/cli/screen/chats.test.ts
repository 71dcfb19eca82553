/** Everything that one does with chats: lists, folders, search, titles, forks, rewinds, the bin, models. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test"
import type { Chat } from "../../../src/schema/chat.ts"
import type { Emulated } from "../../support/emulated-terminal.ts"
import { conversation, createStage, KEY, type Stage, steady } from "./support.ts"

let stage: Stage
let client: Emulated
beforeAll(async () => {
  stage = await createStage()
})
afterAll(() => stage.dispose())
beforeEach(async () => {
  for (const { id } of await chats()) await stage.kernel.call("DELETE", `/v1/chats/${id}`)
})
afterEach(() => client.dispose())

async function chats(query = ""): Promise<Chat[]> {
  return (await stage.kernel.call("GET", `/v1/chats${query}`)).json.chats as Chat[]
}

async function newChat(title: string, folder?: string): Promise<string> {
  const { json } = await stage.kernel.call("POST", "/v1/chats", { body: { title, folder } })
  return String(json.id)
}

/** Says something and waits for the answer. */
async function talk(words: string, answer: string): Promise<void> {
  client.types(words + KEY.enter)
  await stage.model.answers(answer)
  await client.sees(answer)
  await client.loses("answering")
}

const command = (words: string) => client.types(words + KEY.enter)
const footer = () => client.screen().split("\n").at(-1)

test("the list shows all chats, steps through folders, finds by title and opens", async () => {
  await newChat("Groceries")
  await newChat("Чайная церемония", "tea")
  await newChat("Green tea", "tea")
  client = await stage.open({ args: ["--new"] })
  client.types(KEY.ctrl("p"))
  await client.sees("Groceries")
  expect(steady(client.screen())).toMatchSnapshot("all")
  client.types(KEY.tab + KEY.tab)
  await client.sees("folder tea")
  await client.loses("Groceries")
  expect(client.screen()).toContain("Green tea")
  client.types(KEY.shiftTab + KEY.shiftTab)
  await client.sees("all folders")

  client.types("чай")
  await client.sees("found by title")
  await client.loses("Groceries")
  client.types(KEY.enter)
  await client.sees(/Чайная церемония \(tea\) .*puppet/)
})

test("a title and a folder are given by command, and every client sees them", async () => {
  client = await stage.open({ args: ["--new"] })
  await talk("hello", "Hello you.")
  command("/rename Пельмени & 餃子 🥟")
  await client.sees(/Пельмени & 餃子 🥟 .*puppet/)
  command("/folder kitchen")
  await client.sees("(kitchen)")
  expect(await chats("?folder=kitchen")).toMatchObject([{ title: "Пельмени & 餃子 🥟" }])
  command("/folder default")
  await client.loses("(kitchen)")

  command("/rename")
  await client.sees("─ Title ─")
  client.types(`${KEY.ctrl("u")}Dumplings${KEY.enter}`)
  await client.sees(/Dumplings .*puppet/)

  const [chat] = await chats()
  await stage.kernel.call("PATCH", `/v1/chats/${chat!.id}`, { body: { title: "From elsewhere" } })
  await client.sees(/From elsewhere .*puppet/)
})

test("a new chat begins empty and exists once something is said", async () => {
  client = await stage.open({ args: ["--new"] })
  await talk("one", "First answer.")
  command("/new")
  await client.sees("Type a message.")
  expect(await chats()).toHaveLength(1)
  await talk("two", "Second answer.")
  expect(conversation(client)).not.toContain("First answer.")
  expect(await chats()).toHaveLength(2)
})

test("a fork holds what came before a message, the chat it left stays whole", async () => {
  client = await stage.open({ args: ["--new"] })
  await talk("alpha", "About alpha.")
  await talk("beta", "About beta.")
  command("/fork")
  await client.sees("Fork before which message?")
  client.types(KEY.enter)
  await client.loses("About beta.")
  await client.sees("About alpha.")
  expect(await chats()).toHaveLength(2)
  await talk("gamma", "About gamma.")
  const texts = await Promise.all((await chats()).map(({ id }) => stage.kernel.messages(id)))
  const whole = texts.map((messages) => JSON.stringify(messages))
  expect(whole.filter((text) => text.includes("beta") && !text.includes("gamma"))).toHaveLength(1)
})

test("a rewind erases a message and what followed, and puts its words into the input", async () => {
  client = await stage.open({ args: ["--new"] })
  await talk("alpha", "About alpha.")
  await talk("beta with a slip", "About a slip.")
  command("/rewind")
  await client.sees("Rewind to before which message?")
  expect(client.screen()).toContain("› beta with a slip")
  client.types(KEY.enter)
  await client.sees(/─\n beta with a slip\n─/)
  await client.loses("About a slip.")
  client.types(`${KEY.ctrl("u")}beta${KEY.enter}`)
  await stage.model.answers("About beta.")
  await client.sees("About beta.")
  const [chat] = await chats()
  expect(JSON.stringify(await stage.kernel.messages(chat!.id))).not.toContain("slip")
})

test("a deleted chat lies in the bin and comes back", async () => {
  client = await stage.open({ args: ["--new"] })
  await talk("keep me", "I will.")
  command("/delete")
  await client.sees("into the bin?")
  client.types("n")
  await client.loses("into the bin?")
  expect(await chats()).toHaveLength(1)
  command("/delete")
  await client.sees("into the bin?")
  client.types("y")
  await client.sees("Type a message.")
  expect(await chats()).toHaveLength(0)

  command("/restore")
  await client.sees("deleted chats: Enter restores")
  await client.sees("keep me")
  client.types(KEY.enter)
  await client.sees("I will.")
  expect(await chats()).toMatchObject([{ title: "keep me" }])
})

test("a chat is deleted from the list", async () => {
  await newChat("Old notes")
  client = await stage.open({ args: ["--new"] })
  command("/chats")
  await client.sees("Old notes")
  client.types(KEY.ctrl("d"))
  await client.sees('Put "Old notes" into the bin?')
  client.types("y")
  await client.sees("no chats here")
})

test("model and effort are chosen from lists, by command and at the start, for this chat", async () => {
  client = await stage.open({ args: ["--new", "--model", "other", "--effort", "low"] })
  await client.sees("other · low")
  command("/model")
  await client.sees("Model of this chat")
  expect(steady(client.screen())).toMatchSnapshot("models")
  client.types(`pup${KEY.enter}`)
  await client.sees("puppet · low")
  command("/effort")
  await client.sees("Effort of this chat")
  client.types(`high${KEY.enter}`)
  await client.sees("puppet · high")
  command("/effort extreme")
  await client.sees("no effort extreme: one of off, low, mid, high, or default")
  client.types(KEY.ctrl("u"))
  await talk("go", "Gone.")
  expect(await chats()).toMatchObject([{ model: "puppet", effort: "high" }])
  command("/model default")
  await client.sees("puppet · high")
  expect(footer()).toContain("puppet")
})

test("what cannot be done is said in one sentence above the input", async () => {
  client = await stage.open({ args: ["--new"] })
  command("/model nobody")
  await client.sees(/nobody.*\n─+\n\n─/)
  expect(client.screen().split("\n").at(-5)).toBe("no model nobody: there are puppet, other")
  client.types(KEY.escape)
  await client.loses("nobody")
})

test("the last chat is opened again, another one by its id, none with --new", async () => {
  const home = stage.home()
  client = await stage.open({ args: ["--new"], home })
  await talk("remember me", "Always.")
  client.types(KEY.ctrl("d"))
  await client.exited
  const other = await newChat("Another one")

  client = await stage.open({ home })
  await client.sees("Always.")
  client.types(KEY.ctrl("d"))
  await client.exited
  client = await stage.open({ home, args: ["--chat", other] })
  await client.sees(/Another one .*puppet/)
})

test("/context shows what fills the prompt, and finds a piece by its name", async () => {
  client = await stage.open({ args: ["--new"], rows: 40, columns: 100 })
  command("/context")
  await client.sees("there is no chat yet")
  await talk("hello", "Hello you.")
  command("/context")
  await client.sees("What fills the prompt")
  const screen = client.screen()
  expect(screen).toMatch(/[\d,]+ tokens of [\d,]+ for puppet · \d+ % stable · last 0 % cached/)
  expect(screen).toMatch(/› system +[\d,]+ tokens · \d+ %/)
  expect(screen).toMatch(/ {4}persona +[\d,]+ tokens/)
  client.types("memory_save")
  await client.loses("persona")
  expect(client.screen()).toMatch(/memory_save +[\d,]+ tokens/)
  client.types(KEY.escape)
  await client.loses("What fills the prompt")
})

test("/compact folds what is older than the newest words, and says what came of it", async () => {
  client = await stage.open({ args: ["--new"], rows: 40, columns: 100 })
  command("/compact")
  await client.sees("there is no chat yet")
  await talk("hello", "Hello you.")
  command("/compact")
  await client.sees("nothing was folded: there is nothing older than what stays")
})
