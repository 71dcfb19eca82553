/** The summary of a chat over HTTP: read, replaced, told anew, and folds that a client asks for. */
import { afterEach, beforeEach, expect, test } from "bun:test"
import { plan } from "../support/kernel.ts"
import { type TestApi, testApi } from "./support.ts"

let api: TestApi
let chat: string
let handovers: number

beforeEach(async () => {
  handovers = 0
  api = await testApi({
    mock: {
      answer: ({ system }) =>
        system[0]?.text.startsWith("You end a shift")
          ? { say: `HANDOVER ${++handovers}` }
          : undefined,
    },
  })
  chat = await api.newChat()
})
afterEach(() => api.dispose())

const path = (rest: string): string => `/v1/chats/${chat}/${rest}`

async function talk(): Promise<void> {
  for (const part of ["one", "two", "three"]) {
    await api.kernel.turn(chat, plan([{ say: `${part} ${"lorem ".repeat(400)}` }]))
  }
}

test("API-047: a chat of which nothing is folded says so; afterwards text, place and the owner's words are there", async () => {
  expect((await api.call(`GET ${path("summary")}`)).json).toEqual({
    ...{ text: null, upto: null, verbatim: [] },
  })
  await talk()
  const folded = await api.call(`POST ${path("compact")}`)
  expect(folded.json).toMatchObject({ folded: true, messages: 4 })
  expect(folded.json.freed_tokens).toBeGreaterThan(500)
  const { json } = await api.call(`GET ${path("summary")}`)
  const { json: page } = await api.call(`GET ${path("messages")}`)
  expect(json).toMatchObject({ text: "HANDOVER 1", upto: page.messages[3].id })
  expect(json.verbatim).toHaveLength(2)
  expect(json.verbatim[0].text).toStartWith("do it\nmock-plan")
})

test("a fold of nothing is no error and gives its reason", async () => {
  const { status, json } = await api.call(`POST ${path("compact")}`)
  expect(status).toBe(200)
  expect(json).toMatchObject({ folded: false, messages: 0 })
  expect(json.reason).toContain("nothing older")
  const rebuilt = await api.call(`POST ${path("summary/rebuild")}`)
  expect(rebuilt.json.reason).toBe("nothing of this chat is folded yet")
})

test("the text is replaced only where something is folded, and never by nothing", async () => {
  const early = await api.call(`PUT ${path("summary")}`, { text: "mine" })
  expect(early.status).toBe(409)
  expect(early.json.error).toContain("nothing of this chat is folded")
  await talk()
  await api.call(`POST ${path("compact")}`)
  const replaced = await api.call(`PUT ${path("summary")}`, { text: "  The oak stays. " })
  expect(replaced.json).toMatchObject({ text: "The oak stays." })
  const empty = await api.call(`PUT ${path("summary")}`, { text: "" })
  expect(empty.status).toBe(422)
  expect(empty.json.error).toContain("text")
  const rebuilt = await api.call(`POST ${path("summary/rebuild")}`)
  expect(rebuilt.json).toMatchObject({ folded: true, messages: 4 })
  expect((await api.call(`GET ${path("summary")}`)).json.text).toBe("HANDOVER 2")
})

test("a chat whose turn runs is folded by nobody else", async () => {
  await talk()
  const { turnId } = await api.kernel.api.turns.send(chat, {
    text: plan([{ say: "slow", delay_ms: 600_000 }]),
  })
  const { status, json } = await api.call(`POST ${path("compact")}`)
  expect(status).toBe(409)
  expect(json.error).toContain("a turn runs")
  await api.kernel.api.turns.cancel(turnId)
})

test("CTX-07: the profile is one of three, or none", async () => {
  const set = await api.call(`PUT ${path("compact-profile")}`, { profile: "low" })
  expect(set.json.compact_profile).toBe("low")
  const wrong = await api.call(`PUT ${path("compact-profile")}`, { profile: "huge" })
  expect(wrong.status).toBe(422)
  expect(wrong.json.error).toContain("profile")
  const cleared = await api.call(`PUT ${path("compact-profile")}`, { profile: null })
  expect(cleared.json.compact_profile).toBeNull()
})

test("an unknown chat has none of it", async () => {
  chat = "00000000-0000-7000-8000-000000000000"
  for (const route of [
    `GET ${path("summary")}`,
    `POST ${path("compact")}`,
    `POST ${path("summary/rebuild")}`,
  ]) {
    expect((await api.call(route)).status).toBe(404)
  }
})

test("a model that cannot answer is 503, and nothing is folded", async () => {
  await api.dispose()
  api = await testApi({
    mock: { answer: ({ tools }) => (tools.length > 0 ? undefined : { fail: "fatal" }) },
  })
  chat = await api.newChat()
  await talk()
  expect((await api.call(`POST ${path("compact")}`)).status).toBe(503)
  expect((await api.call(`GET ${path("summary")}`)).json.text).toBeNull()
})
