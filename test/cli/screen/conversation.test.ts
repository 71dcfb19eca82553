/** What a conversation looks like while it comes and when it has come. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { conversation, createStage, KEY, type Stage, steady, timesIn } from "./support.ts"

let stage: Stage
beforeAll(async () => {
  stage = await createStage()
})
afterAll(() => stage.dispose())

test("a new chat says where it is and how to begin", async () => {
  const client = await stage.open({ args: ["--new"] })
  expect(steady(client.screen()).replaceAll(/\n{3,}/g, "\n\n")).toMatchSnapshot()
})

const MARKDOWN = `# Two ways

Either **at once** or _slowly_, see [the guide](https://example.org/guide):

1. first
2. second
   - with a detail

> quoted words

| name | size |
| --- | ---: |
| a | 1 |
| бета | 22 |

\`\`\`ts
const size: number = 22 // all of it
\`\`\`

Done with \`care\`.`

test("Markdown grows on the screen as it streams, and code has its colours", async () => {
  const client = await stage.open({ args: ["--new"], rows: 40 })
  client.types(`Which ways are there?${KEY.enter}`)
  const answer = await stage.model.asked()
  await client.sees("answering · Esc stops")
  answer.say(MARKDOWN.slice(0, 60))
  await client.sees("Either at once")
  expect(steady(conversation(client))).toMatchSnapshot("the beginning")
  answer.say(MARKDOWN.slice(60, -20))
  await client.sees("const size")
  answer.say(MARKDOWN.slice(-20))
  answer.end()
  await client.loses("answering")
  expect(conversation(client)).toMatchSnapshot("the whole")
  expect(client.styleOf("Two ways")).toMatchObject({ bold: true, colour: 6 })
  expect(client.styleOf("const")).toMatchObject({ colour: 5 })
  expect(client.styleOf("// all of it")).toMatchObject({ dim: true })
  expect(client.styleOf("22 //")).toMatchObject({ colour: 3 })
  expect(client.styleOf("slowly")).toMatchObject({ italic: true })
})

test("frames are synchronized, and a delta redraws lines, not the screen", async () => {
  const client = await stage.open({ args: ["--new"] })
  client.types(`Go on${KEY.enter}`)
  const answer = await stage.model.asked()
  answer.say("One line. ")
  await client.sees("One line.")
  const before = client.raw().length
  answer.say("Two lines.")
  await client.sees("Two lines.")
  const written = client.raw().slice(before)
  expect(written).not.toContain("\x1b[2J")
  expect(timesIn(written, "\x1b[?2026h")).toBe(timesIn(written, "\x1b[?2026l"))
  // The spinner's line and the answer's; the rest of 24 rows stands.
  expect(timesIn(written, "\x1b[2K")).toBeLessThan(24)
  answer.end()
  await client.loses("answering")
})

test("thinking and tool steps are one line each and unfold by key, by cursor and by click", async () => {
  const client = await stage.open({ args: ["--new"], rows: 30 })
  client.types(`What is in the folder?${KEY.enter}`)
  const first = await stage.model.asked()
  first.think("The folder is near.\nI should look into it.")
  await client.sees("▸ thinking · I should look into it.")
  first.call("list_files", { path: "." })
  first.end()
  const second = await stage.model.asked()
  await client.sees("✓ list_files . · 3 lines")
  second.say("Three files.")
  second.end({ prompt: 1500, completion: 40 })
  await client.loses("answering")
  expect(conversation(client)).toMatchSnapshot("folded")

  client.types(KEY.ctrl("t"))
  await client.sees("▾ thought")
  client.types(KEY.ctrl("o"))
  await client.sees("path: .")
  expect(conversation(client)).toMatchSnapshot("unfolded")
  client.types(KEY.ctrl("t") + KEY.ctrl("o"))
  await client.loses("path: .")

  client.types(KEY.tab)
  await client.sees("list_files")
  client.types(KEY.enter)
  await client.sees("path: .")
  expect(client.styleOf("list_files")).toMatchObject({ inverse: true })
  client.types(KEY.up + KEY.enter)
  await client.sees("▾ thought")
  client.types(KEY.enter + KEY.escape)
  await client.loses("▾ thought")

  const row =
    client
      .screen()
      .split("\n")
      .findIndex((line) => line.includes("▸ thought")) + 1
  client.types(`\x1b[<0;4;${row}M\x1b[<0;4;${row}m`)
  await client.sees("▾ thought")
})

test("the footer tells chat, model, effort, context, usage and cost", async () => {
  const client = await stage.open({ args: ["--new"], columns: 100 })
  client.types(`Count${KEY.enter}`)
  const answer = await stage.model.asked()
  answer.say("One, two.")
  answer.end({ prompt: 20_000, completion: 1000 })
  await client.sees("$0.05")
  expect(client.screen().split("\n").at(-1)).toMatchInlineSnapshot(
    `"Count                                                  puppet · off · 11% of 200k · ↑20k ↓1k $0.0500"`,
  )
})

test("a failed turn says why where it ended", async () => {
  const client = await stage.open({ args: ["--new"] })
  stage.model.refuses("the weights are on holiday")
  client.types(`Are you there?${KEY.enter}`)
  await client.sees(/✗ .*the weights are on holiday/)
  await client.loses("answering")
  expect(conversation(client)).toStartWith("▌ Are you there?\n✗")
})

test("escape sequences and turned writing in an answer move nothing", async () => {
  const client = await stage.open({ args: ["--new"] })
  client.types(`Be evil${KEY.enter}`)
  const answer = await stage.model.asked()
  answer.say(
    "a\x1b[2Jb\x1b]0;owned\x07c\x1b]52;c;aGk=\x07d\u202eevil\u202c e\x9b31mf\r\n\nThat is all.",
  )
  answer.end()
  await client.sees("That is all.")
  await client.loses("answering")
  expect(conversation(client)).toContain("▌ Be evil\n\nabcdevil e31mf\n\nThat is all.")
  expect(client.raw()).not.toContain("owned")
  expect(client.raw()).not.toContain("aGk=")
})
