/** Turns on the screen: queued, stopped, started elsewhere, outlived by their client or their kernel. */
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test"
import type { Emulated } from "../../support/emulated-terminal.ts"
import { conversation, createStage, KEY, type Stage, steady, timesIn } from "./support.ts"

let stage: Stage
let client: Emulated
beforeAll(async () => {
  stage = await createStage()
})
afterAll(() => stage.dispose())
afterEach(() => client.dispose())

const newestChat = async (): Promise<string> =>
  ((await stage.kernel.call("GET", "/v1/chats")).json.chats as { id: string }[])[0]!.id

test("what is said while an answer comes waits, is shown waiting, and is answered next", async () => {
  client = await stage.open({ args: ["--new"] })
  client.types(`first${KEY.enter}`)
  const first = await stage.model.asked()
  first.say("About the first …")
  await client.sees("About the first")
  client.types(`second${KEY.enter}`)
  await client.sees("1 queued")
  client.types(`third${KEY.enter}`)
  await client.sees("2 queued")
  expect(steady(conversation(client))).toMatchSnapshot()
  first.end()
  await stage.model.answers("About the second.")
  await client.sees("About the second.")
  await stage.model.answers("About the third.")
  await client.sees("About the third.")
  await client.loses("answering")
  expect(conversation(client)).toMatchInlineSnapshot(`
    "▌ first

    About the first …

    ▌ second

    About the second.

    ▌ third

    About the third."
  `)
})

test("Esc stops the answer and what waits, and keeps what was said", async () => {
  client = await stage.open({ args: ["--new"] })
  client.types(`tell me all${KEY.enter}`)
  const answer = await stage.model.asked()
  answer.say("It all began")
  await client.sees("It all began")
  client.types(`and more${KEY.enter}`)
  await client.sees("1 queued")
  client.types(KEY.escape)
  await client.loses("Esc stops")
  expect(conversation(client)).toContain("It all began")
  client.types(`something else${KEY.enter}`)
  await stage.model.answers("Gladly.")
  await client.sees("Gladly.")
})

test("CLNT-008: a turn that another client started is followed as it comes", async () => {
  client = await stage.open({ args: ["--new"] })
  client.types(`here${KEY.enter}`)
  await stage.model.answers("Here.")
  await client.sees("Here.")
  const chat = await newestChat()
  const elsewhere = stage.kernel.turn(chat, "from the telephone")
  const answer = await stage.model.asked()
  await client.sees("▌ from the telephone")
  answer.say("Half of it")
  await client.sees("Half of it")
  answer.say(" and the rest.")
  answer.end()
  await client.sees("Half of it and the rest.")
  await elsewhere
  await client.loses("answering")
  expect(timesIn(client.screen(), "from the telephone")).toBe(1)
  expect(timesIn(client.screen(), "Half of it")).toBe(1)
})

test("a turn goes on when its client is killed, and the next client shows all of it once", async () => {
  const home = stage.home()
  client = await stage.open({ args: ["--new"], home })
  client.types(`go on without me${KEY.enter}`)
  const answer = await stage.model.asked()
  answer.say("Slowly ")
  await client.sees("Slowly")
  client.signal("SIGKILL")
  await client.exited

  client = await stage.open({ home })
  await client.sees("Slowly")
  answer.say("but surely.")
  answer.end()
  await client.sees("Slowly but surely.")
  await client.loses("answering")
  expect(conversation(client)).toBe("▌ go on without me\n\nSlowly but surely.")
})

test("a window scrolled back stays where it is while an answer comes below", async () => {
  client = await stage.open({ args: ["--new"], rows: 16 })
  client.types(`count${KEY.enter}`)
  const answer = await stage.model.asked()
  answer.say(Array.from({ length: 60 }, (_, n) => `line ${n}`).join("\n\n"))
  await client.sees("line 59")
  client.types(KEY.pageUp)
  await client.loses("line 59")
  const before = conversation(client).split("\n").slice(0, 8)
  answer.say("\n\nline 60\n\nline 61")
  answer.end()
  await client.loses("answering")
  expect(conversation(client).split("\n").slice(0, 8)).toEqual(before)
  expect(client.screen()).toContain("earlier messages · Ctrl+End: newest")
  client.types(KEY.ctrlHome)
  await client.sees("▌ count")
  client.types("\x1b[<65;5;5M".repeat(3))
  await client.loses("▌ count")
  client.types(KEY.ctrlEnd)
  await client.sees("line 61")
  await client.loses("earlier messages")
})
