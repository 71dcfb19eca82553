/** What the agent asks with ready options, answered by keys, by own words, and taken back. */
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test"
import type { Item } from "../../../src/schema/item.ts"
import type { Emulated } from "../../support/emulated-terminal.ts"
import { createStage, KEY, type Stage } from "./support.ts"

let stage: Stage
let client: Emulated
beforeAll(async () => {
  stage = await createStage()
})
afterAll(() => stage.dispose())
afterEach(() => client.dispose())

const TEA = {
  question: "Tea or coffee?",
  options: [{ label: "tea", description: "green" }, { label: "coffee" }],
}
const CAKES = {
  question: "Which cakes?",
  options: [{ label: "plum" }, { label: "poppy" }, { label: "cheese" }],
  multi: true,
}

/** What the agent was told by its last call. */
async function told(): Promise<string> {
  const { chats } = (await stage.kernel.call("GET", "/v1/chats")).json as {
    chats: { id: string }[]
  }
  const { items } = (await stage.kernel.call("GET", `/v1/chats/${chats[0]!.id}/items`)).json as {
    items: Item[]
  }
  const call = items.findLast((item) => item.kind === "tool_call")
  return call?.result?.output ?? ""
}

async function ask(questions: object[]): Promise<void> {
  client.types(`ask me${KEY.enter}`)
  const answer = await stage.model.asked()
  answer.call("ask_questions", { questions })
  answer.end()
}

async function finish(): Promise<void> {
  await stage.model.answers("Noted.")
  await client.sees("Noted.")
  await client.loses("answering")
}

test("questions come one after another and are answered by keys", async () => {
  client = await stage.open({ args: ["--new"] })
  await ask([TEA, CAKES])
  await client.sees("? Tea or coffee? · 1 more")
  expect(client.screen()).toContain("› tea · green\n  coffee\n  talk it over first")
  client.types(KEY.down)
  await client.sees("› coffee")
  client.types(KEY.enter)
  await client.sees("? Which cakes?")
  client.types(` ${KEY.down}${KEY.down} `)
  await client.sees("› [x] cheese")
  expect(client.screen()).toContain("  [x] plum\n  [ ] poppy")
  client.types(KEY.enter)
  await client.loses("? Which cakes?")
  await finish()
  const output = await told()
  for (const label of ["coffee", "plum", "cheese"]) expect(output).toContain(label)
  for (const label of ["tea,", "poppy"]) expect(output).not.toContain(label)
})

test("words that are typed meanwhile are the answer", async () => {
  client = await stage.open({ args: ["--new"] })
  await ask([TEA])
  await client.sees("? Tea or coffee?")
  client.types(`neither, water${KEY.enter}`)
  await client.loses("? Tea or coffee?")
  await finish()
  expect(await told()).toContain("neither, water")
})

test("Esc stops the turn and takes the question back", async () => {
  client = await stage.open({ args: ["--new"] })
  await ask([TEA])
  await client.sees("? Tea or coffee?")
  client.types(KEY.escape)
  await client.loses("? Tea or coffee?")
  await client.loses("stopping")
  expect(await told()).not.toContain("tea")
})

test("a question that waits is asked again by the client that comes next", async () => {
  const home = stage.home()
  client = await stage.open({ args: ["--new"], home })
  await ask([TEA])
  await client.sees("? Tea or coffee?")
  client.signal("SIGKILL")
  await client.exited
  client = await stage.open({ home })
  await client.sees("? Tea or coffee?")
  client.types(KEY.enter)
  await client.loses("? Tea or coffee?")
  await finish()
  expect(await told()).toContain("tea")
})
