/** A kernel in a world that fails it: stray errors, closed pipes, a full disk, a locked file. */
import { Database } from "bun:sqlite"
import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { join } from "node:path"
import {
  CONFIG,
  createPlace,
  type Place,
  type RunOptions,
  type SentEvent,
  type Served,
  serve,
} from "../support/served.ts"

const MAIN = join(import.meta.dir, "../../src/main.ts")

let place: Place
let kernel: Served | undefined

beforeEach(() => {
  place = createPlace()
  place.write("config.json", CONFIG)
})
afterEach(async () => {
  await kernel?.kill()
  place.remove()
})

async function start(options: Partial<RunOptions> = {}): Promise<Served> {
  kernel = await serve({ place, args: ["--config", "config.json"], ...options })
  return kernel
}

const endsWell = async (served: Served, chat: string): Promise<void> => {
  expect((await served.turn(chat, "Are you well?")).at(-1)).toMatchObject({ type: "done" })
}

describe("stray errors", () => {
  test.each([
    ["unhandled rejection", 'void Promise.reject(new Error("stray"))'],
    ["uncaught exception", 'setTimeout(() => { throw new Error("stray") }, 0)'],
  ])("an %s is logged, and the kernel goes on", async (message, code) => {
    // The kernel has no such fault, so one is planted beside it.
    place.write("fault.ts", `process.on("SIGUSR2", () => { ${code} })`)
    const served = await start({
      program: [process.execPath, "--preload", place.path("fault.ts"), MAIN],
    })
    const chat = await served.newChat()
    served.signal("SIGUSR2")
    await served.untilSaid(new RegExp(`"error":"Error: stray.*"message":"${message}"`))
    await endsWell(served, chat)
    served.signal("SIGTERM")
    expect(await served.exited()).toBe(0)
  })
})

describe.skipIf(process.platform === "win32")("a log that nobody takes", () => {
  test.each([
    ["its reader is gone", 'mkfifo log; : <log & exec "$@" 2>log'],
    ["it was closed from the beginning", 'exec "$@" 2>&-'],
  ])("%s: the kernel goes on and stops in order", async (_what, shell) => {
    const served = await start({ program: ["sh", "-c", shell, "sh", process.execPath, MAIN] })
    const chat = await served.newChat()
    for (let i = 0; i < 3; i++) await endsWell(served, chat)
    served.signal("SIGTERM")
    expect(await served.exited()).toBe(0)
  })
})

describe("the disk", () => {
  test.skipIf(process.platform === "win32")(
    "is full: sends are refused in words, reading goes on, and nothing acknowledged is lost",
    async () => {
      // A limit on the size of a file stands for the full disk; its signal is ignored, as the disk has none.
      const served = await start({
        program: [
          "sh",
          "-c",
          "trap '' XFSZ; ulimit -f 1200; exec \"$@\"",
          "sh",
          process.execPath,
          MAIN,
        ],
      })
      const chat = await served.newChat("Much to say")
      const send = (text: string) =>
        served.call("POST", `/v1/chats/${chat}/messages`, { body: { text, silent: true } })
      const acknowledged: string[] = []
      let refused = await send("first")
      while (refused.status === 202 && acknowledged.length < 500) {
        acknowledged.push(...(refused.json.message_ids as string[]))
        refused = await send("x".repeat(50_000))
      }
      expect(refused).toMatchObject({ status: 503, json: { code: "unavailable" } })
      expect((await served.call("GET", "/health")).status).toBe(200)
      const ids = (await served.messages(chat)).map(({ id }) => String(id))
      expect(ids).toEqual(acknowledged)

      // A turn cannot be stored either, and says so instead of hanging.
      const turn = await served.call("POST", `/v1/chats/${chat}/messages`, {
        body: { text: "y".repeat(50_000) },
      })
      expect(turn.status).toBe(503)
      await served.kill()

      const again = await start()
      expect((await again.messages(chat)).map(({ id }) => String(id))).toEqual(acknowledged)
      await endsWell(again, chat)
    },
  )
})

/** It waits for the kernel's own writes, which may come at any time. */
function otherProgram(): Database {
  const other = new Database(place.path("eva.db"))
  other.run("PRAGMA busy_timeout = 20000")
  return other
}

test("another program holds the file: a send fails in words or is stored, never both or neither", async () => {
  const served = await start()
  const chat = await served.newChat("Held")
  const send = (text: string) =>
    served.call("POST", `/v1/chats/${chat}/messages`, { body: { text, silent: true } })
  const texts = Array.from({ length: 10 }, (_, i) => `number ${i}`)
  const other = otherProgram()
  other.run("BEGIN IMMEDIATE")
  const held = await Promise.all(texts.slice(0, 5).map(send))
  other.run("COMMIT")
  other.close()
  const free = await Promise.all(texts.slice(5).map(send))
  expect(held.map(({ status }) => status)).toEqual([503, 503, 503, 503, 503])
  expect(held[0]!.json.error).toBe("the database is held by another program; try again")
  expect(free.map(({ status }) => status)).toEqual([202, 202, 202, 202, 202])
  const stored = (await served.messages(chat)).map(
    ({ blocks }) => (blocks as { text: string }[])[0]!.text,
  )
  expect(stored.sort()).toEqual(texts.slice(5))
  await endsWell(served, chat)
})

test("an answer that cannot be stored, nor its end, ends its turn in words; the next turn works", async () => {
  const served = await start()
  const chat = await served.newChat("Held later")
  const events: SentEvent[] = []
  const other = otherProgram()
  const text = 'mock-plan: [{"say": "Here it is.", "delay_ms": 2000}]'
  for await (const event of served.send(chat, { text })) {
    events.push(event)
    if (event.type === "turn_started") other.run("BEGIN IMMEDIATE")
  }
  other.run("COMMIT")
  other.close()
  expect(events.at(-1)).toMatchObject({
    type: "error",
    code: "unavailable",
    message: "the database is held by another program; try again",
  })
  expect((await served.call("GET", "/v1/generations")).json).toEqual({ generations: [] })
  await endsWell(served, chat)
})

test("fifty sends at once are all stored and answered, and the kernel answers others meanwhile", async () => {
  const served = await start()
  const chats = await Promise.all(Array.from({ length: 10 }, () => served.newChat("Crowd")))
  const turns = Promise.all(
    Array.from({ length: 50 }, (_, i) => served.turn(chats[i % 10]!, `number ${i}`)),
  )
  let answered = 0
  let isOver = false
  void turns.finally(() => {
    isOver = true
  })
  while (!isOver) {
    await served.call("GET", "/health")
    answered++
  }
  for (const events of await turns) expect(events.at(-1)).toMatchObject({ type: "done" })
  expect(answered).toBeGreaterThan(2)
})
