/** How the process ends: in order when it is asked to, at once when somebody insists. */
import { Database } from "bun:sqlite"
import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { readdirSync } from "node:fs"
import { deferred } from "../../src/lib/async.ts"
import {
  CONFIG,
  createPlace,
  type Place,
  type SentEvent,
  type Served,
  serve,
} from "../support/served.ts"

let place: Place
let model: ReturnType<typeof slowModel>

beforeEach(() => {
  place = createPlace()
  model = slowModel()
})
afterEach(async () => {
  await kernel?.kill()
  model.stop()
  place.remove()
})

/** A Chat Completions server that says two words and the rest when it is told to. */
function slowModel() {
  const { promise: rest, resolve: finish } = deferred()
  const frame = (delta: object, end: string | null = null) =>
    `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", created: 1, model: "slow", choices: [{ index: 0, delta, finish_reason: end }] })}\n\n`
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    fetch: () => {
      const body = async function* () {
        yield frame({ role: "assistant", content: "Half an " })
        yield frame({ content: "answer" })
        await rest
        yield frame({ content: " and the rest" })
        yield `${frame({}, "stop")}data: [DONE]\n\n`
      }
      return new Response(body(), { headers: { "content-type": "text/event-stream" } })
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}/v1`,
    finish,
    stop: () => {
      finish()
      void server.stop(true)
    },
  }
}

let kernel: Served | undefined

async function start(drain: string): Promise<Served> {
  place.write("config.json", {
    ...CONFIG,
    server: { ...CONFIG.server, drain },
    llm: { ...CONFIG.llm, provider: "openai", api_key: "k", base_url: model.url },
  })
  kernel = await serve({ place, args: ["--config", "config.json"] })
  return kernel
}

/** Starts a turn and reads until the model is in the middle of its answer. */
async function halfAnswered(served: Served): Promise<{ chat: string; rest: Promise<SentEvent[]> }> {
  const chat = await served.newChat("A talk")
  const events = served.send(chat, { text: "Tell me" })
  let text = ""
  while (text !== "Half an answer") {
    const { value, done } = await events.next()
    if (done) throw new Error(`the turn ended after "${text}"`)
    if (value.type === "text_delta") text += value.text
  }
  return { chat, rest: Array.fromAsync(events) }
}

const leftovers = () => readdirSync(place.dir).filter((name) => /-(?:wal|shm|journal)$/.test(name))

/** What the file holds after the process is gone. */
function stored(chat: string) {
  using db = new Database(place.path("eva.db"), { readonly: true })
  const blocks = db
    .query<{ role: string; blocks: string }, [string]>(
      "SELECT role, blocks FROM messages WHERE chat_id = ? ORDER BY id",
    )
    .all(chat)
  const turns = db.query<{ state: string }, [string]>("SELECT state FROM turns WHERE chat_id = ?")
  return {
    said: blocks.map(({ role, blocks }) => `${role}: ${JSON.parse(blocks)[0]?.text}`),
    states: turns.all(chat).map(({ state }) => state),
    check: db.query("PRAGMA integrity_check").get(),
  }
}

describe("an orderly stop", () => {
  test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)(
    "%s ends with code 0 and one file",
    async (name) => {
      const served = await start("5s")
      await served.newChat("Something to store")
      // The thread for long reads holds the file as well, and must let it go.
      expect((await served.call("GET", "/v1/stats")).status).toBe(200)
      served.signal(name)
      expect(await served.exited()).toBe(0)
      expect(leftovers()).toEqual([])
      expect(served.err()).toContain(`"signal":"${name}"`)
      expect(served.err()).toContain('"message":"stopped"')
    },
  )

  test("lets a running turn end; its client gets everything up to the end", async () => {
    const served = await start("10s")
    const { chat, rest } = await halfAnswered(served)
    served.signal("SIGTERM")
    await served.untilSaid(/"message":"stopping"/)
    const refused = await served.call("POST", `/v1/chats/${chat}/messages`, { body: { text: "?" } })
    expect(refused).toMatchObject({
      status: 503,
      json: { error: "the kernel is stopping; try again soon" },
    })
    expect((await served.call("GET", `/v1/chats/${chat}`)).status).toBe(200)
    model.finish()
    expect((await rest).at(-1)).toMatchObject({ type: "done", reason: "done" })
    expect(await served.exited()).toBe(0)
    expect(leftovers()).toEqual([])
    expect(stored(chat)).toEqual({
      said: ["user: Tell me", "assistant: Half an answer and the rest"],
      states: ["done"],
      check: { integrity_check: "ok" },
    })
  })

  test("SRV-007: cancels what does not end within server.drain, and stores its half answer", async () => {
    const served = await start("100ms")
    const { chat, rest } = await halfAnswered(served)
    served.signal("SIGTERM")
    expect((await rest).at(-1)).toMatchObject({ type: "done", reason: "cancelled" })
    expect(await served.exited()).toBe(0)
    expect(leftovers()).toEqual([])
    expect(stored(chat)).toEqual({
      said: ["user: Tell me", "assistant: Half an answer"],
      states: ["cancelled"],
      check: { integrity_check: "ok" },
    })
  })

  test("is not hurried by a further SIGTERM or SIGHUP, as service managers send them", async () => {
    const served = await start("10s")
    const { rest } = await halfAnswered(served)
    served.signal("SIGTERM")
    await served.untilSaid(/"message":"stopping"/)
    for (const name of ["SIGTERM", "SIGHUP", "SIGTERM", "SIGHUP"] as const) served.signal(name)
    expect((await served.call("GET", "/health")).status).toBe(200)
    model.finish()
    expect((await rest).at(-1)).toMatchObject({ type: "done" })
    expect(await served.exited()).toBe(0)
  })

  test("does not wait for a client that reads nothing, nor for one that follows forever", async () => {
    const served = await start("10m")
    const feed = await fetch(`${served.url}/v1/feed?chats=*`)
    expect(feed.status).toBe(200)
    served.signal("SIGTERM")
    expect(await served.exited()).toBe(0)
    await feed.body?.cancel()
  })
})

test("a second SIGINT ends at once; the next start finds the turn as interrupted", async () => {
  const served = await start("1m")
  const { chat, rest } = await halfAnswered(served)
  rest.catch(() => {})
  served.signal("SIGINT")
  await served.untilSaid(/"message":"stopping"/)
  served.signal("SIGINT")
  expect(await served.exited()).toBe(130)
  expect(stored(chat).said).toEqual(["user: Tell me"])

  model.finish()
  const again = await start("1m")
  await again.untilSaid(/turns were cut off by the last stop/)
  expect((await again.turn(chat, "Once more")).at(-1)).toMatchObject({ type: "done" })
})
