/** A chat of thousands of messages: opens at its end, reads on to its beginning, keeps little in memory. */
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test"
import type { Emulated } from "../../support/emulated-terminal.ts"
import { conversation, createStage, KEY, type Stage } from "./support.ts"

const MESSAGES = 2000
const BATCH = 100

let stage: Stage
let client: Emulated
let chat: string
beforeAll(async () => {
  stage = await createStage()
  chat = await stage.kernel.newChat("Long")
  for (let from = 0; from < MESSAGES; from += BATCH) {
    const batch = Array.from({ length: BATCH }, (_, n) => ({ text: `message number ${from + n}.` }))
    const body = { silent: true, batch }
    await stage.kernel.call("POST", `/v1/chats/${chat}/messages`, { body })
  }
}, 60_000)
afterAll(() => stage.dispose())
afterEach(() => client.dispose())

test("it opens at its end, and scrolling reaches its first message", async () => {
  client = await stage.open({ args: ["--chat", chat] })
  await client.sees("message number 1999.")
  client.types(KEY.ctrlHome)
  await client.sees("message number 0.")
  expect(conversation(client)).toStartWith("▌ message number 0.\n\n▌ message number 1.")
  client.types(KEY.pageDown)
  await client.loses("message number 0.")
  client.types(KEY.ctrlEnd)
  await client.sees("message number 1999.")
})
