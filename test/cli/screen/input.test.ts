/** The input: lines, pastes, history, commands and help. */
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test"
import type { Emulated } from "../../support/emulated-terminal.ts"
import { conversation, createStage, KEY, type Stage, steady } from "./support.ts"

let stage: Stage
beforeAll(async () => {
  stage = await createStage()
})
afterAll(() => stage.dispose())

let client: Emulated
afterEach(() => client.dispose())

/** The rows between the two lines around the input. */
const input = (): string => client.screen().split(/\n─{10,}\n/)[1] ?? ""

/** What the kernel has of the last message of a person. */
async function lastMessage(): Promise<string> {
  const { chats } = (await stage.kernel.call("GET", "/v1/chats")).json as {
    chats: { id: string }[]
  }
  const messages = await stage.kernel.messages(chats[0]!.id)
  const last = messages.findLast(({ role }) => role === "user") as { blocks: { text: string }[] }
  return last.blocks.map(({ text }) => text).join("\n")
}

test("Alt+Enter, Ctrl+J, Shift+Enter and a backslash make new lines; Enter sends them all", async () => {
  client = await stage.open({ args: ["--new"] })
  client.types(`one${KEY.altEnter}two${KEY.ctrl("j")}three${KEY.shiftEnter}four\\${KEY.enter}five`)
  await client.sees("five")
  expect(input()).toBe(" one\n two\n three\n four\n five")
  client.types(KEY.enter)
  await stage.model.answers("Five lines.")
  await client.sees("Five lines.")
  expect(await lastMessage()).toBe("one\ntwo\nthree\nfour\nfive")
})

test("a paste of 10,000 lines stands as one mark, sends nothing by itself and arrives whole", async () => {
  client = await stage.open({ args: ["--new"] })
  const pasted = Array.from({ length: 10_000 }, (_, n) => `строка ${n} \u4f60\u597d`).join("\n")
  client.types("Read this: ")
  client.pastes(pasted)
  await client.sees("[paste #1 +10000 lines]")
  expect(input()).toBe(" Read this: [paste #1 +10000 lines]")
  client.types(KEY.enter)
  await stage.model.answers("It is long.")
  await client.sees("It is long.")
  expect(await lastMessage()).toBe(`Read this: ${pasted}`)
  expect(conversation(client)).toContain("▌ ▸ 9980 more lines")
})

test("a short paste is text, and escape sequences in it do nothing", async () => {
  client = await stage.open({ args: ["--new"] })
  client.pastes("a\tb\nc\u001b[31md")
  await client.sees("c[31md")
  expect(input()).toBe(" a    b\n c[31md")
})

test("Up brings back what was said, Down the draft, and a resumed chat remembers", async () => {
  const home = stage.home()
  client = await stage.open({ args: ["--new"], home })
  for (const word of ["first", "second"]) {
    client.types(word + KEY.enter)
    await stage.model.answers(`Heard ${word}.`)
    await client.sees(`Heard ${word}.`)
  }
  client.types(KEY.up)
  await client.sees(/─\n second\n─/)
  client.types(KEY.up)
  await client.sees(/─\n first\n─/)
  client.types(KEY.down + KEY.down)
  await client.sees(/─\n\n─/)
  client.types(KEY.ctrl("d"))
  expect(await client.exited).toBe(0)

  client = await stage.open({ home })
  await client.sees("Heard second.")
  client.types(KEY.up)
  await client.sees(/─\n second\n─/)
})

test("a slash offers the commands, letters narrow them, Tab completes, arguments complete too", async () => {
  client = await stage.open({ args: ["--new"], rows: 30 })
  client.types("/")
  await client.sees("/rewind")
  expect(client.screen().split("\n").slice(-13).join("\n")).toMatchSnapshot()
  client.types("re")
  await client.loses("/chats")
  expect(client.screen()).toContain("/restore")
  client.types(KEY.escape)
  await client.loses("/restore")
  client.types(`${KEY.ctrl("u")}/mod`)
  await client.sees("/model NAME")
  client.types(KEY.tab)
  await client.sees(/─\n \/model ?\n─/)
  client.types("oth")
  await client.sees("→ other")
  client.types(KEY.tab)
  await client.sees(/─\n \/model other\n─/)
  client.types(KEY.enter)
  await client.sees("other · off")
})

test("an unknown command says which one was meant and keeps the words; a path is a message", async () => {
  client = await stage.open({ args: ["--new"] })
  client.types(`/renam Tea${KEY.enter}`)
  await client.sees("no command /renam: did you mean /rename?")
  expect(input()).toBe(" /renam Tea")
  client.types(`${KEY.ctrl("u")}/usr/bin is a folder${KEY.enter}`)
  await stage.model.answers("So it is.")
  await client.sees("So it is.")
  client.types(`//help is a command${KEY.enter}`)
  await stage.model.answers("It is.")
  await client.sees("It is.")
  expect(await lastMessage()).toBe("/help is a command")
})

test("a question mark shows the help in an empty input only", async () => {
  client = await stage.open({ args: ["--new"], rows: 50, columns: 100 })
  client.types("?")
  await client.sees("─ Help ─")
  expect(steady(client.screen())).toMatchSnapshot()
  client.types(KEY.escape)
  await client.loses("─ Help ─")
  client.types("why?")
  await client.sees(/─\n why\?\n─/)
})

test("Ctrl+C empties the input first", async () => {
  client = await stage.open({ args: ["--new"] })
  client.types("half a thought")
  await client.sees("half a thought")
  client.types(KEY.ctrl("c"))
  await client.sees("Ctrl+C again leaves")
  expect(input()).toBe("")
  client.types(`still here${KEY.ctrl("d")}`)
  await client.sees("still here")
})
