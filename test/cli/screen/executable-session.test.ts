/**
 * One long session of the built executable, kernel and client alike: a person who does everything that the
 * terminal offers, one thing after another. What each thing looks like is tried in the tests beside this.
 */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Emulated } from "../../support/emulated-terminal.ts"
import { SETUP_MS } from "../../support/patience.ts"
import { conversation, createStage, freeAddress, KEY, type Stage, timesIn } from "./support.ts"

const ROOT = join(import.meta.dir, "../../..")

let folder: string
let stage: Stage
let home: string
let client: Emulated
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "eva-executable-"))
  const binary = join(folder, "eva-kernel")
  const build = Bun.spawn([process.execPath, "scripts/build.ts", "--outfile", binary], {
    cwd: ROOT,
    stdout: "ignore",
    stderr: "inherit",
  })
  if ((await build.exited) !== 0) throw new Error("the executable could not be built")
  stage = await createStage({ listen: await freeAddress(), program: [binary] })
  home = stage.home()
  client = await stage.open({ home, args: ["--new"], rows: 30 })
}, SETUP_MS)
afterAll(async () => {
  await stage.dispose()
  rmSync(folder, { recursive: true, force: true })
})

const enter = (words: string) => client.types(words + KEY.enter)

async function talk(words: string, answer: string): Promise<void> {
  enter(words)
  await stage.model.answers(answer)
  await client.sees(answer)
  await client.loses("answering")
}

test("it streams Markdown, a thought and a tool step that unfold, and tells the cost", async () => {
  enter("What is in the folder?")
  const step = await stage.model.asked()
  step.think("I should look.")
  await client.sees("▸ thinking")
  step.call("list_files", { path: "." })
  step.end()
  const answer = await stage.model.asked()
  answer.say("## Files\n\n**Three**:\n\n```ts\nconst files")
  await client.sees("const files")
  answer.say(" = 3\n```\n")
  answer.end()
  await client.sees("const files = 3")
  await client.loses("answering")
  expect(client.styleOf("const")).toMatchObject({ colour: 5 })
  expect(client.styleOf("Three")).toMatchObject({ bold: true })
  await client.sees(/\$0\.00/)
  client.types(KEY.ctrl("o") + KEY.ctrl("t"))
  await client.sees("пример.txt")
  await client.sees("▾ thought")
  client.types(KEY.ctrl("o") + KEY.ctrl("t"))
  await client.loses("пример.txt")
})

test("what is said meanwhile waits; Esc stops all of it", async () => {
  enter("first")
  const first = await stage.model.asked()
  first.say("One moment")
  await client.sees("One moment")
  enter("second")
  await client.sees("1 queued")
  first.end()
  const second = await stage.model.asked()
  second.say("And the second")
  await client.sees("And the second")
  client.types(KEY.escape)
  await client.loses("Esc stops")
})

test("lines, a paste of 10,000 lines, history, completion and help work in the input", async () => {
  client.types(`one${KEY.altEnter}two`)
  await client.sees(/─\n one\n two\n─/)
  client.types(KEY.ctrl("c"))
  await client.sees("Ctrl+C again leaves")
  client.pastes("line\n".repeat(9_999))
  await client.sees("[paste #1 +10000 lines]")
  client.types(KEY.enter)
  await stage.model.answers("That was long.")
  await client.sees("That was long.")
  client.types("/re")
  await client.sees("/rewind")
  client.types(KEY.escape)
  await client.loses("/rewind")
  client.types(`${KEY.ctrl("u")}?`)
  await client.sees("─ Help ─")
  client.types(KEY.escape)
  await client.loses("─ Help ─")
  client.types(KEY.up)
  await client.sees(/─\n line\n/)
  client.types(KEY.ctrl("c"))
  await client.loses(/─\n line\n/)
})

test("title, folder, model and effort are chosen", async () => {
  enter("/rename Поездка 旅")
  await client.sees(/Поездка 旅 .*puppet/)
  enter("/folder journeys")
  await client.sees("(journeys)")
  enter("/model other")
  await client.sees("other · off")
  enter("/effort high")
  await client.sees("other · high")
  enter("/model default")
  await client.sees("puppet · high")
})

test("chats are begun, listed by folder, found by title, opened", async () => {
  enter("/new")
  await client.sees("Type a message.")
  await talk("alpha", "About alpha.")
  client.types(KEY.ctrl("p"))
  await client.sees("› alpha")
  client.types(KEY.tab + KEY.tab)
  await client.sees("folder journeys")
  client.types("поезд")
  await client.sees("found by title")
  client.types(KEY.enter)
  await client.sees(/Поездка 旅 \(journeys\)/)
  client.types(KEY.ctrl("p"))
  await client.sees("alpha")
  client.types(`alpha${KEY.enter}`)
  await client.sees("About alpha.")
})

test("a chat is forked, rewound, deleted and restored", async () => {
  await talk("beta", "About beta.")
  enter("/fork")
  await client.sees("Fork before which message?")
  client.types(KEY.enter)
  await client.loses("About beta.")
  await talk("gamma", "About gamma.")
  enter("/rewind")
  await client.sees("Rewind to before which message?")
  client.types(KEY.enter)
  await client.sees(/─\n gamma\n─/)
  client.types(`${KEY.ctrl("u")}/rename Branch${KEY.enter}`)
  await client.sees(/Branch .*puppet/)
  enter("/delete")
  await client.sees("into the bin?")
  client.types("y")
  await client.sees("Type a message.")
  enter("/restore")
  await client.sees("› Branch")
  client.types(KEY.enter)
  await client.sees("About alpha.")
})

test("it follows what others start, outlives its kernel and goes on where it was left", async () => {
  const { chats } = (await stage.kernel.call("GET", "/v1/chats")).json as {
    chats: { id: string; title: string }[]
  }
  const branch = chats.find(({ title }) => title === "Branch")!
  const elsewhere = stage.kernel.turn(branch.id, "from the telephone")
  await stage.model.answers("Seen everywhere.")
  await client.sees("Seen everywhere.")
  await elsewhere
  await stage.kernel.kill()
  await client.sees("connection lost")
  await stage.restart()
  await client.loses("connection lost")
  await talk("are you back?", "I am back.")
  for (const words of ["from the telephone", "Seen everywhere.", "▌ are you back?"])
    expect([words, timesIn(conversation(client), words)]).toEqual([words, 1])
  client.types(KEY.ctrl("d"))
  expect(await client.exited).toBe(0)
  expect(client.modes().alternateScreen).toBe(false)
  client = await stage.open({ home, columns: 40, rows: 20 })
  await client.sees("I am back.")
})
