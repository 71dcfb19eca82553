/** Running turns over HTTP: joined late, resumed, cancelled, left; and the one feed over all chats. */
import { afterEach, describe, expect, test } from "bun:test"
import { createGate } from "../../src/llm/mock-gate.ts"
import { plan } from "../support/kernel.ts"
import {
  eventually,
  type Frame,
  type TestApi,
  type TestApiOptions,
  testApi,
  typesOf,
} from "./support.ts"

let api: TestApi
afterEach(() => api.dispose())
const start = async (options?: TestApiOptions) => {
  api = await testApi(options)
  const chat = await api.newChat()
  return { ...api, chat, path: `/v1/chats/${chat}` }
}
/** A kernel whose model says nothing until the gate lets it. */
const startGated = async (options: TestApiOptions = {}) => {
  const gate = createGate()
  return { ...(await start({ ...options, mock: { gate } })), gate }
}
const textOf = (frames: readonly Frame[]): string =>
  frames.map(({ data }) => (data?.type === "text_delta" ? data.text : "")).join("")
const SLOW = plan([{ say: "one two three four five six", delay_ms: 15 }])

describe("joining a turn", () => {
  test("API-062 SSE-019: the past comes marked, the rest live, and the whole text is there once", async () => {
    const { open, path } = await start()
    const first = await open(`POST ${path}/messages`, { text: SLOW })
    await first.next("text_delta")
    const live = await open(`GET ${path}/live`)
    const seen = await live.toEnd()
    expect(textOf(seen)).toBe("one two three four five six")
    const marks = seen.map(({ data }) => data.replayed === true)
    expect(marks[0]).toBe(true)
    expect(marks.at(-1)).toBe(false)
    expect(marks).toEqual([...marks].sort().reverse())
    expect(textOf(await first.toEnd())).toBe(textOf(seen))
  })

  test("API-062: mute takes a list of names", async () => {
    const { open, path } = await start()
    const first = await open(`POST ${path}/messages`, { text: SLOW })
    const live = await open(`GET ${path}/live?mute=text_delta,%20item_delta,done`)
    const types = typesOf(await live.toEnd())
    expect(types).not.toContain("text_delta")
    expect(types).not.toContain("item_delta")
    expect(types.at(-1)).toBe("done")
    await first.toEnd()
  })

  test("nothing runs: 204 without a body", async () => {
    const { call, path } = await start()
    const reply = await call(`GET ${path}/live`)
    expect([reply.status, reply.text]).toEqual([204, ""])
  })

  test("CLNT-008 SRV-010: a turn outlives its client and is followed from another", async () => {
    const { open, path, api, kernel } = await start()
    const phone = await open(`POST ${path}/messages`, { text: SLOW })
    await phone.next("text_delta")
    await phone.leave()
    await eventually(() => api.streamCount() === 0)
    const desk = await open(`GET ${path}/live`)
    expect(textOf(await desk.toEnd())).toBe("one two three four five six")
    expect(kernel.api.bus.subscribers()).toBe(0)
  })

  test("since gives only what was not seen, unmarked, even after the turn is over", async () => {
    const { open, path, call } = await start()
    const first = await open(`POST ${path}/messages`, { text: SLOW })
    const { data } = await first.next("text_delta")
    const rest = await open(`GET ${path}/live?since=${data.seq}`)
    const seen = await rest.toEnd()
    expect(data.text + textOf(seen)).toBe("one two three four five six")
    expect(seen.every(({ data }) => data.replayed === undefined)).toBe(true)
    await first.toEnd()
    const tail = await open(`GET ${path}/live?since=${data.seq}`)
    expect(textOf(await tail.toEnd())).toBe(textOf(seen))
    const last = seen.at(-1)?.data
    expect((await call(`GET ${path}/live?since=${last.seq}`)).status).toBe(204)
  })

  test("a position that is gone draws the turn again", async () => {
    const { open, path } = await start()
    const first = await open(`POST ${path}/messages`, { text: SLOW })
    await first.next("text_delta")
    const again = await open(`GET ${path}/live?since=1`)
    const seen = await again.toEnd()
    expect(textOf(seen)).toBe("one two three four five six")
    expect(seen[0]?.data.replayed).toBe(true)
    await first.toEnd()
  })

  test("a second send waits, says so, and its stream holds its own turn alone", async () => {
    const { open, path } = await start()
    const first = await open(`POST ${path}/messages`, { text: SLOW })
    const second = await open(`POST ${path}/messages`, { text: "me too" })
    const seen = await second.toEnd()
    expect(typesOf(seen).slice(0, 2)).toEqual(["accepted", "queued"])
    expect(new Set(seen.map(({ data }) => data.turn_id)).size).toBe(1)
    expect(textOf(seen)).toBe("me too")
    expect(first.seen.length + (await first.toEnd()).length).toBeGreaterThan(0)
  })
})

describe("live turns", () => {
  test("API-013 SRV-009: every turn is listed, running and waiting, until it is over", async () => {
    const { open, call, path, gate } = await startGated()
    const first = await open(`POST ${path}/messages`, { text: "a" })
    await gate.next()
    const second = await open(`POST ${path}/messages`, { text: "b" })
    const { generations } = (await call("GET /v1/generations")).json
    const shown = generations.map(({ state, source }: { state: string; source: string }) => [
      state,
      source,
    ])
    expect(shown).toEqual([
      ["running", "message"],
      ["queued", "message"],
    ])
    expect(generations[0]).toMatchObject({
      chat_id: expect.any(String),
      started_at: expect.any(String),
    })
    gate.open()
    await first.toEnd()
    await second.toEnd()
    await eventually(() => api.kernel.api.turns.generations().length === 0)
    expect((await call("GET /v1/generations")).json.generations).toEqual([])
  })

  test("API-014 SRV-009: a turn is cancelled by its id or by its chat; 404 when nothing runs", async () => {
    const { open, call, path, gate } = await startGated()
    const first = await open(`POST ${path}/messages`, { text: "a" })
    await gate.next()
    const [{ id }] = (await call("GET /v1/generations")).json.generations
    expect((await call(`POST /v1/generations/${id}/cancel`)).json).toEqual({ cancelled: 1 })
    expect((await first.toEnd()).at(-1)?.data).toMatchObject({ type: "done", reason: "cancelled" })
    const again = await call(`POST /v1/generations/${id}/cancel`)
    expect([again.status, again.json.code]).toEqual([404, "not_found"])

    const running = await open(`POST ${path}/messages`, { text: "b" })
    const waiting = await open(`POST ${path}/messages`, { text: "c" })
    await running.next("accepted")
    expect((await call(`POST ${path}/cancel`)).json).toEqual({ cancelled: 2 })
    for (const stream of [running, waiting]) {
      expect((await stream.toEnd()).at(-1)?.data.reason).toBe("cancelled")
    }
    expect((await call(`POST ${path}/cancel`)).status).toBe(404)
    expect((await call("POST /v1/chats/nope/cancel")).status).toBe(404)
  })

  test("a stream of a silent model stays open by its heartbeats", async () => {
    const { open, path, gate } = await startGated({ parts: { streams: { heartbeatMs: 10 } } })
    const frames = await open(`POST ${path}/messages`, { text: "a" })
    await gate.next()
    await frames.until(() => frames.comments() >= 3)
    gate.open()
    expect((await frames.toEnd()).at(-1)?.data.type).toBe("done")
  })
})

describe("the feed", () => {
  test("carries every chat and every change of the list, numbered", async () => {
    const { open, chat, newChat, kernel, api } = await start()
    const feed = await open("GET /v1/feed")
    const other = await newChat({ title: "new" })
    await kernel.turn(chat, "hello")
    await feed.next("done")
    const seen = feed.seen.filter(({ data }) => data !== undefined)
    expect(seen[0]?.data).toMatchObject({ type: "chat_created", chat_id: other })
    expect(seen.map(({ id }) => Number(id))).toEqual(seen.map(({ data }) => data.seq))
    expect(textOf(seen)).toBe("hello")
    await feed.leave()
    await eventually(() => api.streamCount() === 0 && kernel.api.bus.subscribers() === 0)
  })

  test("HEAD asks for it and is told at once, without a listener left behind", async () => {
    const { call, path, api, kernel, open } = await start()
    const turn = await open(`POST ${path}/messages`, { text: SLOW })
    for (const route of ["HEAD /v1/feed", `HEAD ${path}/live`]) {
      const reply = await call(route)
      expect([route, reply.status, reply.text]).toEqual([route, 200, ""])
      expect(reply.headers.get("content-type")).toStartWith("text/event-stream")
    }
    await turn.toEnd()
    expect([api.streamCount(), kernel.api.bus.subscribers()]).toEqual([0, 0])
  })

  test("follows chosen chats, and mutes", async () => {
    const { open, chat, newChat, kernel } = await start()
    const other = await newChat()
    const feed = await open(`GET /v1/feed?chats=${chat},${chat}&mute=text_delta`)
    await kernel.turn(other, "not here")
    await kernel.turn(chat, "here")
    await feed.next("done")
    const seen = feed.seen.filter(({ data }) => data !== undefined)
    expect(new Set(seen.map(({ data }) => data.chat_id))).toEqual(new Set([chat]))
    expect(typesOf(seen)).not.toContain("text_delta")
    await feed.leave()
  })

  test("goes on where it was left, by since or by Last-Event-ID, without a gap", async () => {
    const { open, chat, kernel } = await start()
    const first = await open("GET /v1/feed?chats=*")
    await first.until(() => first.seen.length > 0)
    const [begin] = first.seen
    expect(begin).toEqual({ id: expect.any(String), data: undefined })
    await first.leave()
    await kernel.turn(chat, "while you were away")
    const bySince = await open(`GET /v1/feed?since=${begin?.id}`)
    const byHeader = await open("GET /v1/feed", undefined, { "Last-Event-ID": begin!.id! })
    for (const feed of [bySince, byHeader]) {
      await feed.next("done")
      expect(textOf(feed.seen)).toBe("while you were away")
      await feed.leave()
    }
  })

  test("a position that is gone is answered by reset with the new one", async () => {
    const { open, chat, kernel } = await start()
    const feed = await open("GET /v1/feed?since=5")
    const reset = await feed.next("reset")
    expect(Number(reset.id)).toBe(reset.data.seq)
    await kernel.turn(chat, "on from here")
    await feed.next("done")
    expect(textOf(feed.seen)).toBe("on from here")
    await feed.leave()
  })
})

test("two hundred clients follow one turn and each gets all of it", async () => {
  const { open, path, api, kernel } = await start()
  const words = Array.from({ length: 100 }, (_, i) => `w${i}`).join(" ")
  const text = plan([{ say: words, delay_ms: 2 }])
  const first = await open(`POST ${path}/messages`, { text })
  const followers = await Promise.all(Array.from({ length: 200 }, () => open(`GET ${path}/live`)))
  const seen = await Promise.all(followers.map((frames) => frames.toEnd()))
  expect(new Set(seen.map(textOf))).toEqual(new Set([words]))
  await first.toEnd()
  await eventually(() => api.streamCount() === 0)
  expect(kernel.api.bus.subscribers()).toBe(0)
})
