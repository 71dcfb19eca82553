/** Narrow, low and colourless terminals, all kinds of writing, and terminals that change their size. */
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test"
import { type Emulated, emulatedTerminal } from "../../support/emulated-terminal.ts"
import {
  clientEnvironment,
  conversation,
  createStage,
  KEY,
  MAIN,
  type Stage,
  steady,
  timesIn,
} from "./support.ts"

let stage: Stage
let client: Emulated
beforeAll(async () => {
  stage = await createStage()
})
afterAll(() => stage.dispose())
afterEach(() => client.dispose())

async function talk(words: string, answer: string): Promise<void> {
  client.types(words + KEY.enter)
  await stage.model.answers(answer)
  await client.sees(answer.trim().split(/\s/).at(-1)!)
  await client.loses("answering")
}

/** Down to the input: usage and title below it arrive when they do. */
function withoutFooter(): string {
  const rows = client.screen().split("\n")
  const rule = rows.findLastIndex((row) => row.startsWith("─"))
  return rows.slice(0, rule).join("\n")
}

test("40 columns hold conversation, list, help and footer", async () => {
  client = await stage.open({ args: ["--new"], columns: 40, rows: 20 })
  await talk(
    "Is this narrow?",
    "It is **narrow**, and a line that is longer wraps between its words.",
  )
  client.types(KEY.ctrl("p"))
  await client.sees("› Is this narrow?")
  await client.loses("answering")
  expect(steady(withoutFooter())).toMatchSnapshot("list")
  client.types(KEY.escape)
  await client.loses("─ Chats ─")
  client.types("?")
  await client.sees("─ Help ─")
  expect(steady(withoutFooter())).toMatchSnapshot("help")
})

test("the smallest terminal still talks", async () => {
  client = await stage.open({ args: ["--new"], columns: 20, rows: 8 })
  await talk("hi", "Hello, small one.")
  expect(conversation(client)).toBe("▌ hi\n\nHello, small one.")
  expect(client.screen().split("\n")).toHaveLength(8)
})

test("wide, joined and combining characters and Cyrillic keep their columns", async () => {
  client = await stage.open({ args: ["--new"], columns: 44, rows: 30 })
  const words = "Привет, 世界! 👩‍👩‍👧‍👦 é 🇩🇪 नमस्ते"
  await talk(
    words,
    `${words}\n\n| имя | 名前 |\n| --- | --- |\n| ёж | 針鼠 🦔 |\n\n${"漢字".repeat(15)} конец`,
  )
  expect(conversation(client)).toMatchSnapshot()
  client.types(words)
  await client.sees(/─\n Привет, 世界!/)
  client.types("\x7f".repeat(8))
  await client.sees(/─\n Привет, 世界! 👩‍👩‍👧‍👦\n─/)
})

test("NO_COLOR leaves weight and no colour", async () => {
  client = await stage.open({ args: ["--new"], env: { NO_COLOR: "1" } })
  await talk("code", "Some **bold** `code`:\n\n```ts\nconst a = 1\n```\n\nend.")
  expect(client.styleOf("bold")).toMatchObject({ bold: true, colour: undefined })
  expect(client.styleOf("const")).toMatchObject({ colour: undefined })
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
  expect(client.raw()).not.toMatch(/\x1b\[(?:\d+;)*(?:3[0-7]|4[0-7]|9[0-7])m/)
})

test("a terminal that changes its size is drawn anew, whatever the new size", async () => {
  client = await stage.open({ args: ["--new"] })
  const answer = "One line that is long enough to be wrapped when the terminal gets narrow, it is."
  await talk("go", answer)
  client.resize(40, 12)
  await client.sees(/\n─{40}\n\n─{40}\n/)
  expect(conversation(client)).toMatchSnapshot("narrow")
  client.resize(10, 3)
  await client.loses("go")
  client.resize(100, 30)
  await client.sees(answer)
  expect(timesIn(client.screen(), "One line")).toBe(1)
  client.types("still alive")
  await client.sees("still alive")
})

test("an input of many lines scrolls within itself and leaves room for the conversation", async () => {
  client = await stage.open({ args: ["--new"], rows: 16 })
  await talk("go", "Gone.")
  client.types(Array.from({ length: 30 }, (_, n) => `row ${n}`).join(KEY.ctrl("j")))
  await client.sees("row 29")
  expect(client.screen()).toContain("Gone.")
  expect(client.screen()).toContain("↑ 25")
})

const tmux = Bun.which("tmux")
if (!tmux) process.stderr.write("skipped: there is no tmux\n")

test.skipIf(!tmux)("in tmux it looks and ends as elsewhere", async () => {
  const home = stage.home()
  const server = ["-L", `eva-${process.pid}`, "-f", "/dev/null"]
  const chat = [process.execPath, MAIN, "chat", "--new", "--url", stage.kernel.url]
  client = emulatedTerminal({
    command: [tmux!, ...server, "new-session", "-x", "80", "-y", "24", ...chat],
    cwd: home,
    env: { ...clientEnvironment(home), LANG: "C.UTF-8" },
  })
  await client.sees("Type a message.")
  await talk("Привет", "**Bold** and 世界, all in tmux.")
  expect(conversation(client)).toBe("▌ Привет\n\nBold and 世界, all in tmux.")
  expect(client.styleOf("Bold")).toMatchObject({ bold: true })
  client.types(`one${KEY.altEnter}two`)
  await client.sees(/─\n one\n two\n─/)
  client.types(`${KEY.ctrl("c")}${KEY.ctrl("c")}`)
  expect(await client.exited).toBe(0)
})
