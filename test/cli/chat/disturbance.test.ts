/** Kernels that stop, die and come back, and wires that go dead: nothing is lost and nothing shows twice. */
import { afterEach, describe, expect, test } from "bun:test"
import { createGate } from "../../../src/llm/mock-gate.ts"
import { plan, type TestKernelOptions } from "../../support/kernel.ts"
import {
  cleanUp,
  doublesIn,
  freePort,
  linesOf,
  passTexts,
  type SessionAt,
  served,
  sessionAt,
  spawnKernel,
  until,
  wireTo,
} from "./support.ts"

const cleaner = cleanUp()
afterEach(cleaner.run)

const start = async (options: TestKernelOptions & { port?: number }) =>
  cleaner.add(await served(options), ({ stop }) => stop().catch(() => undefined))

const join = async (url: string, at: SessionAt = {}) =>
  cleaner.add(await sessionAt(url, at), (session) => session.close())

const live = ({ connection }: { connection: { state: string } }) => connection.state === "live"
const lost = ({ connection }: { connection: { state: string } }) => connection.state === "lost"

/** Notices a dead wire soon, and takes no busy machine for one. */
const IMPATIENT = { silenceMs: 2000, timeoutMs: 2000 }

/** A step that takes so long that the kernel can be killed in its middle. */
const slowly = (words: string) => ({ say: words, delay_ms: 100 })

describe("a kernel that is started again", () => {
  test("an orderly restart amid a turn: what was said stays, what is said meanwhile is answered", async () => {
    const folder = cleaner.folder()
    const gate = createGate()
    const first = await start({ folder, mock: { gate } })
    const session = await join(first.url)
    const doubles = doublesIn(session)
    await session.send("one two three")
    await passTexts(gate, 1)
    await until(session, ({ items }) => linesOf(items).includes("one "))
    await first.stop()
    await until(session, lost)
    const waiting = session.send("are you back?")
    expect(linesOf(session.state().items).at(-1)).toBe("> are you back?")

    await start({ folder, port: first.port })
    await waiting
    const { items } = await until(
      session,
      (state) => live(state) && state.turns.length === 0 && state.items.length === 4,
    )
    expect(linesOf(items)).toEqual([
      ...["> one two three", "one ", "> are you back?", "are you back?"],
    ])
    expect(doubles).toEqual([])
  })

  test("kill -9 amid a turn: the turn is taken up where it was, for all that look on", async () => {
    const folder = cleaner.folder()
    const port = freePort()
    const url = `http://127.0.0.1:${port}`
    const kernel = await spawnKernel(folder, port)
    cleaner.add(kernel, (child) => child.kill("SIGKILL"))
    const session = await join(url)
    const steps = [
      { think: "first", call: "memory_search", input: { query: "oak" } },
      slowly("seven words that come one by one"),
    ]
    await session.send(plan(steps))
    const other = await join(url, { chatId: session.state().chat!.id })
    const doubles = [doublesIn(session), doublesIn(other)]
    await until(other, ({ items }) => linesOf(items).includes("seven words "))
    kernel.kill("SIGKILL")
    await kernel.exited
    await Promise.all([until(session, lost), until(other, lost)])

    cleaner.add(await spawnKernel(folder, port), (child) => child.kill("SIGKILL"))
    const all = [
      ...["> do it", "(first)", "memory_search completed", "seven words that come one by one"],
    ]
    for (const client of [session, other]) {
      const { items } = await until(
        client,
        (state) => live(state) && state.turns.length === 0 && state.items.length === 4,
      )
      expect(linesOf(items)).toEqual(all)
    }
    const late = await join(url, { chatId: session.state().chat!.id })
    expect(linesOf(late.state().items)).toEqual(all)
    expect(doubles).toEqual([[], []])
  })

  test("a message that went out as the kernel died is stored once", async () => {
    const folder = cleaner.folder()
    const first = await start({ folder })
    const chatId = first.kernel.newChat()
    const session = await join(first.url, { chatId })
    const doubles = doublesIn(session)
    const sent = session.send("only once")
    await first.stop()
    const second = await start({ folder, port: first.port })
    await sent
    await until(session, (state) => state.turns.length === 0 && state.items.length === 2)
    expect(second.kernel.api.items.itemPage(chatId, {})).toHaveLength(2)
    expect(doubles).toEqual([])
  })
})

describe("a wire that goes dead", () => {
  test("a stall amid a turn: the client notices, comes back and goes on from where it was", async () => {
    const gate = createGate()
    const home = await start({ folder: cleaner.folder(), mock: { gate } })
    const wire = cleaner.add(wireTo(home.port), ({ close }) => close())
    const session = await join(wire.url, IMPATIENT)
    const doubles = doublesIn(session)
    await until(session, live)
    const states: string[] = []
    session.subscribe(() => states.push(session.state().connection.state))
    await session.send("one two three")
    await passTexts(gate, 1)
    await until(session, ({ items }) => linesOf(items).includes("one "))
    await Bun.sleep(IMPATIENT.silenceMs + 500)
    expect(states.filter((state) => state !== "live")).toEqual([])
    void wire.freeze()
    const stalled = await until(session, lost)
    expect(stalled.connection).toMatchObject({ reason: "the kernel has been silent for 2 s" })
    gate.open()
    wire.thaw()
    const { items } = await until(session, (state) => live(state) && state.turns.length === 0)
    expect(linesOf(items)).toEqual(["> one two three", "one two three"])
    expect(doubles).toEqual([])
  })

  test("a send into a dead wire goes out when it is back, once", async () => {
    const home = await start({ folder: cleaner.folder() })
    const wire = cleaner.add(wireTo(home.port), ({ close }) => close())
    const session = await join(wire.url, IMPATIENT)
    const doubles = doublesIn(session)
    await until(session, live)
    void wire.freeze()
    const sent = session.send("patience")
    await until(session, lost)
    wire.thaw()
    await sent
    const { items } = await until(
      session,
      (state) => state.turns.length === 0 && state.items.length === 2,
    )
    expect(linesOf(items)).toEqual(["> patience", "patience"])
    expect(doubles).toEqual([])
  })
})
