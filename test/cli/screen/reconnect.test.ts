/** A kernel that goes away and comes back while a client looks on. */
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test"
import type { Emulated } from "../../support/emulated-terminal.ts"
import { conversation, createStage, freeAddress, KEY, type Stage, timesIn } from "./support.ts"

let stage: Stage
let client: Emulated
beforeAll(async () => {
  stage = await createStage({ listen: await freeAddress() })
})
afterAll(() => stage.dispose())
afterEach(() => client.dispose())

test("a killed kernel is told with the next try; back again, everything stands once", async () => {
  client = await stage.open({ args: ["--new"] })
  client.types(`before${KEY.enter}`)
  await stage.model.answers("Answered before.")
  await client.sees("Answered before.")
  await client.loses("answering")
  client.types(`during${KEY.enter}`)
  const answer = await stage.model.asked()
  answer.say("Cut in the")
  await client.sees("Cut in the")
  await stage.kernel.kill()
  await client.sees(/connection lost: .* · (next try in \d+ s|trying again)/)

  client.types(`while away${KEY.enter}`)
  await client.sees("sending")
  await stage.restart()
  await stage.model.answers("Answered after.")
  await client.sees("Answered after.")
  await client.loses("connection lost")
  await client.loses("answering")
  const shown = conversation(client)
  for (const words of [
    "▌ before",
    "Answered before.",
    "▌ during",
    "▌ while away",
    "Answered after.",
  ])
    expect([words, timesIn(shown, words)]).toEqual([words, 1])
  expect(shown).not.toContain("sending")
})

test("Esc takes back what waits for a kernel that is away, words and all", async () => {
  client = await stage.open({ args: ["--new"] })
  client.types(`before${KEY.enter}`)
  await stage.model.answers("Answered.")
  await client.sees("Answered.")
  await client.loses("answering")
  await stage.kernel.kill()
  await client.sees("connection lost")
  client.types(`not so${KEY.enter}`)
  await client.sees("sending")
  client.types(KEY.escape)
  await client.sees(/─\n not so\n─/)
  expect(conversation(client)).not.toContain("not so")
  await stage.restart()
  await client.loses("connection lost")
  client.types(` but so${KEY.enter}`)
  await stage.model.answers("Understood.")
  await client.sees("Understood.")
  await client.loses("answering")
  expect(conversation(client)).toContain("▌ not so but so")
})
