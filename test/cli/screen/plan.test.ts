/** The plan on the screen: in one place, as it is now. */
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test"
import { mkdtempSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Emulated } from "../../support/emulated-terminal.ts"
import { conversation, createStage, KEY, type Stage } from "./support.ts"

let stage: Stage
let dir: string
let client: Emulated
beforeAll(async () => {
  stage = await createStage()
  dir = realpathSync(mkdtempSync(join(tmpdir(), "eva-code-")))
})
afterAll(async () => {
  rmSync(dir, { recursive: true, force: true })
  await stage.dispose()
})
afterEach(() => client.dispose())

async function plan(input: object): Promise<void> {
  const answer = await stage.model.asked()
  answer.call("turn_plan", input)
  answer.end()
}

test("the plan stands under its first call, moves on where it stands, and keeps its outcome", async () => {
  client = await stage.open({ args: ["--code", dir] })
  client.types(`go${KEY.enter}`)
  const tasks = [
    { title: "find every call site", phase: "dig" },
    { title: "add the field", phase: "build" },
  ]
  await plan({ op: "init", tasks })
  await client.sees("1 [>] find every call site")
  await plan({ op: "done", outcome: "all in agent.rs" })
  await client.sees("1 [x] find every call site — all in agent.rs")
  await client.sees("2 [>] add the field")
  await plan({ op: "done" })
  await client.sees("2 [x] add the field")
  await stage.model.answers("All is done.")
  await client.sees("All is done.")
  await client.loses("answering")
  expect(conversation(client)).toMatchSnapshot()
})
