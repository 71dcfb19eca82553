/** What the agent does on the machine of its user: asked once, shown before, stopped at once. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test"
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Item } from "../../../src/schema/item.ts"
import type { Emulated } from "../../support/emulated-terminal.ts"
import { processLives } from "../../support/process-lives.ts"
import { createStage, KEY, type Stage } from "./support.ts"

let stage: Stage
let dir: string
let client: Emulated
beforeAll(async () => {
  stage = await createStage()
})
afterAll(() => stage.dispose())
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "eva-code-")))
})
afterEach(() => {
  client.dispose()
  rmSync(dir, { recursive: true, force: true })
})

const open = (opening: object = {}) => stage.open({ args: ["--code", dir], ...opening })

async function call(name: string, input: object): Promise<void> {
  client.types(`do it${KEY.enter}`)
  const answer = await stage.model.asked()
  answer.call(name, input)
  answer.end()
}

async function finish(words: string): Promise<void> {
  await stage.model.answers(words)
  await client.sees(words)
  await client.loses("answering")
}

/** What the agent was told by its last call in the newest chat. */
async function told(): Promise<{ output: string; is_error: boolean } | undefined> {
  const { json } = await stage.kernel.call("GET", "/v1/chats")
  const { chats } = json as { chats: { id: string }[] }
  const reply = await stage.kernel.call("GET", `/v1/chats/${chats[0]!.id}/items`)
  const { items } = reply.json as { items: Item[] }
  return items.findLast((item) => item.kind === "tool_call")?.result
}

test("a command is shown, allowed by Enter, and runs in the folder of --code", async () => {
  client = await open()
  await call("local_shell", { command: "pwd; echo one > made.txt" })
  await client.sees("? run a command")
  expect(client.screen()).toContain(
    [
      "  $ pwd; echo one > made.txt",
      "› allow",
      "  allow for this session",
      "  allow always in this project",
      "  deny · Esc",
    ].join("\n"),
  )
  expect(existsSync(join(dir, "made.txt"))).toBe(false)
  client.types(KEY.enter)
  await client.loses("? run a command")
  await finish("It is made.")
  expect(readFileSync(join(dir, "made.txt"), "utf8")).toBe("one\n")
  expect(await told()).toEqual({ output: dir, is_error: false })
})

test("OPS-009: Esc refuses, whatever stands in the input, and the agent is told so", async () => {
  client = await open()
  await call("local_shell", { command: "touch never.txt" })
  await client.sees("? run a command")
  client.types("half a sen")
  await client.sees("half a sen")
  client.types(KEY.escape)
  await client.loses("? run a command")
  await finish("Then not.")
  expect(existsSync(join(dir, "never.txt"))).toBe(false)
  expect(await told()).toEqual({
    output: expect.stringContaining("The user refused this operation"),
    is_error: true,
  })
  expect(client.screen()).toContain("half a sen")
})

test("what is allowed always is asked once, here and in the next session, and nothing else with it", async () => {
  const home = stage.home()
  client = await open({ home })
  await call("local_shell", { command: "echo more >> log.txt" })
  await client.sees("? run a command")
  client.types(KEY.down + KEY.down)
  await client.sees("› allow always in this project")
  client.types(KEY.enter)
  await finish("Once.")
  await call("local_shell", { command: "echo more >> log.txt" })
  await finish("Twice.")
  client.dispose()

  client = await open({ home })
  await call("local_shell", { command: "echo more >> log.txt" })
  await finish("Three times.")
  expect(readFileSync(join(dir, "log.txt"), "utf8")).toBe("more\nmore\nmore\n")
  await call("local_shell", { command: "echo more >> log.txt; rm log.txt" })
  await client.sees("? run a command")
  client.types(KEY.escape)
  await finish("Not that.")
  expect(existsSync(join(dir, "log.txt"))).toBe(true)
})

test("a patch shows what it changes before it does, and writing may be allowed for the session", async () => {
  writeFileSync(join(dir, "notes.md"), "# Notes\n\nold words\n\nend\n")
  client = await open({ rows: 30 })
  const patch = (from: string, to: string) =>
    `*** Begin Patch\n*** Update File: notes.md\n@@\n-${from}\n+${to}\n*** End Patch`
  await call("apply_patch", { patch: patch("old words", "новые слова") })
  await client.sees("? write notes.md")
  expect(client.screen()).toContain("  - old words\n  + новые слова")
  client.types(KEY.down)
  await client.sees("› allow for this session")
  client.types(KEY.enter)
  await finish("Changed.")
  await call("apply_patch", { patch: patch("новые слова", "last words") })
  await finish("Changed again.")
  expect(readFileSync(join(dir, "notes.md"), "utf8")).toBe("# Notes\n\nlast words\n\nend\n")
})

test("/undo takes back what the last turn wrote here, and leaves what was changed since", async () => {
  writeFileSync(join(dir, "a.md"), "one\n")
  writeFileSync(join(dir, "b.md"), "two\n")
  client = await open({ rows: 30, columns: 100 })
  const update = (name: string, from: string, to: string) =>
    `*** Update File: ${name}\n@@\n-${from}\n+${to}\n`
  const body = `${update("a.md", "one", "ONE")}${update("b.md", "two", "TWO")}*** Add File: c.md\n+three\n`
  await call("apply_patch", { patch: `*** Begin Patch\n${body}*** End Patch` })
  await client.sees("? write a.md")
  client.types(KEY.down)
  await client.sees("› allow for this session")
  client.types(KEY.enter)
  await finish("Changed three.")
  expect(readFileSync(join(dir, "c.md"), "utf8")).toBe("three\n")
  writeFileSync(join(dir, "b.md"), "my own\n")
  client.types(`/undo${KEY.enter}`)
  await client.sees("restored a.md · removed c.md · left alone: b.md was changed since")
  expect(readFileSync(join(dir, "a.md"), "utf8")).toBe("one\n")
  expect(readFileSync(join(dir, "b.md"), "utf8")).toBe("my own\n")
  expect(existsSync(join(dir, "c.md"))).toBe(false)
})

test("a long command shows its output as it comes; Esc ends it with all that it started", async () => {
  client = await open()
  await call("local_shell", { command: "sleep 300 & echo pid=$!; wait", timeout_s: 600 })
  await client.sees("? run a command")
  client.types(KEY.enter)
  await client.sees(/pid=\d+/)
  const pid = Number(/pid=(\d+)/.exec(client.screen())?.[1])
  expect(await processLives(pid)).toBe(true)
  client.types(KEY.escape)
  await client.loses("stopping")
  await client.loses("answering")
  while (await processLives(pid)) await Bun.sleep(20)
})

test("only the client that said it acts for it; who looks on does nothing", async () => {
  client = await open()
  await call("local_shell", { command: "echo x >> count.txt" })
  await client.sees("? run a command")
  const onlooker = await stage.open({ args: ["--chat", await newestChat()] })
  await onlooker.sees("do it")
  client.types(KEY.enter)
  await finish("Done once.")
  await onlooker.sees("Done once.")
  expect(onlooker.screen()).not.toContain("? run a command")
  onlooker.dispose()
  expect(readFileSync(join(dir, "count.txt"), "utf8")).toBe("x\n")
})

test("--code needs a folder and the screen", async () => {
  client = stage.start({ args: ["--code", join(dir, "absent")] })
  expect(await client.exited).toBe(2)
  expect(client.raw()).toBe(
    `eva-kernel: --code takes a folder, and ${join(dir, "absent")} is none\r\n`,
  )
})

async function newestChat(): Promise<string> {
  const { json } = await stage.kernel.call("GET", "/v1/chats")
  return (json as { chats: { id: string }[] }).chats[0]!.id
}
