/** A session against a kernel of this process, over real HTTP. */
import { afterEach, describe, expect, test } from "bun:test"
import type { Session, SessionState } from "../../../src/cli/chat/session.ts"
import { createGate } from "../../../src/llm/mock-gate.ts"
import type { TestKernelOptions } from "../../support/kernel.ts"
import { plan } from "../../support/kernel.ts"
import { cleanUp, linesOf, passTexts, type SessionAt, served, sessionAt, until } from "./support.ts"

const cleaner = cleanUp()
afterEach(cleaner.run)

async function start(options: TestKernelOptions = {}) {
  const folder = options.folder ?? cleaner.folder()
  const home = cleaner.add(await served({ ...options, folder }), ({ stop }) => stop())
  const join = async (at: SessionAt = {}): Promise<Session> =>
    cleaner.add(await sessionAt(home.url, at), (session) => session.close())
  return { ...home, join }
}

const idle = (session: Session, lines: number) =>
  until(session, ({ items, turns }) => turns.length === 0 && items.length === lines)

describe("a conversation", () => {
  test("a draft becomes a chat with the first words, which show at once and once", async () => {
    const { join, kernel } = await start()
    const session = await join()
    expect(session.state()).toMatchObject({ chat: undefined, items: [], model: "mock" })

    const sent = session.send("hello there")
    const [echo] = session.state().items
    expect(echo).toMatchObject({ kind: "user_message", text: "hello there", status: "running" })
    expect(echo!.id).toStartWith("local:")
    await sent
    const { items, chat } = await idle(session, 2)

    expect(linesOf(items)).toEqual(["> hello there", "hello there"])
    const [stored] = kernel.api.messages.page(chat!.id, { limit: 1, before: undefined })
    expect(stored).toBeDefined()
    expect(kernel.api.items.itemPage(chat!.id, {}).map(({ id }) => id)[0]).toBe(items[0]!.id)
    const listed = await until(session, ({ chats }) => chats[0]?.title === "hello there")
    expect(listed.chats).toHaveLength(1)
  })

  test("an item that did not change stays the same object while another one grows", async () => {
    const gate = createGate()
    const { join, kernel } = await start({ mock: { gate } })
    const chatId = kernel.newChat()
    await kernel.api.turns.silent(chatId, { text: "zero", silent: true })
    const session = await join({ chatId })
    await until(session, ({ connection }) => connection.state === "live")
    await session.send("one two")
    await passTexts(gate, 1)
    const before = await until(session, ({ items }) => items.length === 3)
    gate.open()
    const after = await until(session, ({ turns }) => turns.length === 0)
    expect(linesOf(after.items).slice(0, 2)).toEqual(["> zero", "> one two"])
    expect(after.items[0]).toBe(before.items[0]!)
    expect(after.items[2]).not.toBe(before.items[2]!)
    expect(session.state().items).toBe(after.items)
  })

  test("what is said while it answers waits its turn, and one cancel ends both", async () => {
    const gate = createGate()
    const { join } = await start({ mock: { gate } })
    const session = await join()
    await session.send("first")
    await session.send("second")
    const bothKnown = ({ turns }: SessionState) =>
      turns.length === 2 && turns[0]!.state === "running"
    const queued = await until(session, bothKnown)
    expect(queued.turns.map(({ state }) => state)).toEqual(["running", "queued"])
    expect(linesOf(queued.items)).toEqual(["> first", "> second"])

    await session.cancel()
    const { items } = await until(session, ({ turns }) => turns.length === 0)
    expect(linesOf(items).filter((line) => line.startsWith(">"))).toEqual(["> first", "> second"])
    await session.cancel()
  })

  test("a tool step grows from call to result and what it consumed is counted", async () => {
    const { join } = await start()
    const session = await join()
    const call = { call: "person_list", input: {}, usage: { prompt_tokens: 40 } }
    await session.send(plan([call, { say: "nobody", usage: { cost: 0.25 } }]))
    const { items } = await idle(session, 3)
    expect(linesOf(items)).toEqual(["> do it", "person_list completed", "nobody"])
    // What the next request weighs is read once the turn is over.
    const { usage } = await until(
      session,
      ({ usage }) => usage.cost === 0.25 && usage.contextTokens !== undefined,
    )
    expect(usage.promptTokens).toBeGreaterThan(40)
    expect(usage.contextTokens).toBeGreaterThan(0)
  })

  test("a turn that fails says why, behind its items", async () => {
    const { join } = await start()
    const session = await join()
    await session.send(plan([{ say: "so far", fail: "fatal" }]))
    const { failures, items } = await until(session, (state) => state.failures.length > 0)
    expect(failures[0]).toMatchObject({ code: "fatal", turnId: items.at(-1)!.turn_id! })
  })

  test("words that the kernel refuses are shown no more, and the refusal is one sentence", async () => {
    const { join, kernel } = await start()
    const chatId = kernel.newChat()
    const session = await join({ chatId })
    await session.remove()
    await session.open(chatId)
    const refusal = await session.send("too late").catch((error: Error) => error)
    expect(refusal).toMatchObject({ code: "conflict" })
    expect((refusal as Error).message).toStartWith("the chat is in the bin")
    expect(session.state().items).toEqual([])
  })
})

describe("several clients", () => {
  test("a turn started elsewhere appears with its words, and both read the same", async () => {
    const { join, kernel } = await start()
    const chatId = kernel.newChat()
    const here = await join({ chatId })
    const there = await join({ chatId })
    await there.send("said there")
    const seen = await idle(here, 2)
    await here.send("said here")
    expect(linesOf((await idle(there, 4)).items)).toEqual(linesOf((await idle(here, 4)).items))
    expect(linesOf(seen.items)).toEqual(["> said there", "said there"])
  })

  test("CLNT-008: a client that opens the chat amid a turn sees all of it, and each line once", async () => {
    const gate = createGate()
    const { join } = await start({ mock: { gate } })
    const there = await join()
    const steps = [
      { think: "hm", say: "let me see", call: "person_list", input: {} },
      { say: "nobody at all" },
    ]
    await there.send(plan(steps))
    const chatId = there.state().chat!.id
    const saidSoFar = ({ items }: SessionState) => linesOf(items).at(-1) === "let me "
    await passTexts(gate, 2)
    await until(there, saidSoFar)
    const early = await join({ chatId })
    await until(early, saidSoFar)
    gate.open()
    const all = ["> do it", "(hm)", "let me see", "person_list completed", "nobody at all"]
    expect(linesOf((await idle(early, 5)).items)).toEqual(all)
    expect(linesOf((await idle(there, 5)).items)).toEqual(all)
    const late = await join({ chatId })
    expect(linesOf(late.state().items)).toEqual(all)
  })

  test("two that speak at the same moment see both, in one order", async () => {
    const { join, kernel } = await start()
    const chatId = kernel.newChat()
    const sessions = [await join({ chatId }), await join({ chatId })]
    await Promise.all(sessions.map((session, index) => session.send(`from ${index}`)))
    const [first, second] = await Promise.all(sessions.map((session) => idle(session, 4)))
    expect(linesOf(first!.items)).toEqual(linesOf(second!.items))
    expect(linesOf(first!.items).toSorted()).toEqual(["> from 0", "> from 1", "from 0", "from 1"])
  })

  test("what one does to the list the other sees", async () => {
    const { join, kernel } = await start()
    const [kept, gone] = [kernel.newChat(), kernel.newChat()]
    const here = await join({ chatId: kept })
    const there = await join({ chatId: kept })
    await until(there, ({ connection }) => connection.state === "live")
    await here.rename("Plans")
    await here.move("work")
    await here.remove(gone)
    const { chats, folders, chat } = await until(
      there,
      (state) => state.chats.length === 1 && state.chat?.folder === "work",
    )
    expect(chats[0]).toMatchObject({ id: kept, title: "Plans", folder: "work" })
    expect(chat).toMatchObject({ title: "Plans", folder: "work" })
    expect(folders).toContainEqual({ folder: "work", chats: 1, quiet: false })
  })
})

describe("history", () => {
  async function withHistory(turns: number) {
    const home = await start()
    const chatId = home.kernel.newChat()
    for (let turn = 1; turn <= turns; turn++) await home.kernel.turn(chatId, `word ${turn}`)
    return { ...home, chatId, session: await home.join({ chatId }) }
  }

  test("older pages come in front, until there are none", async () => {
    const { session } = await withHistory(60)
    const newest = session.state()
    expect(newest.items).toHaveLength(50)
    expect(newest.hasOlder).toBe(true)
    await session.loadOlder()
    const more = session.state()
    expect(more.items).toHaveLength(100)
    expect(more.items.slice(50)).toEqual(newest.items.slice())
    expect(more.items[50]).toBe(newest.items[0]!)
    await session.loadOlder()
    await session.loadOlder()
    const all = session.state()
    expect(all.hasOlder).toBe(false)
    const words = Array.from({ length: 60 }, (_, index) => `word ${index + 1}`)
    expect(linesOf(all.items)).toEqual(words.flatMap((word) => [`> ${word}`, word]))
  })

  test("a short chat says by itself that nothing is older", async () => {
    const { session } = await withHistory(1)
    await until(session, ({ hasOlder }) => !hasOlder)
  })

  test("rewind takes back and gives the words; fork leaves the parent as it is", async () => {
    const { session, chatId, kernel } = await withHistory(3)
    const before = session.state().items
    await session.fork(before[4]!.id)
    const branch = session.state()
    expect(branch.chat).toMatchObject({ forked_from: chatId })
    expect(linesOf(branch.items)).toEqual([
      ...["machine_note", "> word 1", "word 1", "> word 2", "word 2"],
    ])
    await session.open(chatId)
    expect(await session.rewind(before[2]!.id)).toBe("word 2")
    expect(linesOf(session.state().items)).toEqual(["> word 1", "word 1"])
    expect(kernel.api.items.itemPage(chatId, {})).toHaveLength(2)
  })

  test("a branch before an item that was only seen live finds its stored message", async () => {
    const { session } = await withHistory(1)
    await session.send("word 2")
    const { items } = await idle(session, 4)
    expect(items[3]!.id).toStartWith(items[3]!.turn_id!)
    await session.fork(items[3]!.id)
    expect(linesOf(session.state().items)).toEqual([
      ...["machine_note", "> word 1", "word 1", "> word 2"],
    ])
  })

  test("what another client takes back is gone here, too", async () => {
    const { session, join, chatId } = await withHistory(2)
    const there = await join({ chatId })
    await until(session, ({ connection }) => connection.state === "live")
    await there.rewind(there.state().items[2]!.id)
    const { items } = await until(session, (state) => state.items.length === 2)
    expect(linesOf(items)).toEqual(["> word 1", "word 1"])
  })

  test("search looks on every shelf; the bin is a list of its own, and gives back", async () => {
    const { session, chatId } = await withHistory(1)
    await session.rename("Garden")
    await session.move("quiet place")
    expect((await session.search("gard")).map(({ id }) => id)).toEqual([chatId])
    await session.remove()
    expect(session.state()).toMatchObject({ chat: undefined, items: [] })
    await session.filter({ deleted: true })
    expect(session.state().chats.map(({ id }) => id)).toEqual([chatId])
    await session.restore(chatId)
    await session.filter({ folder: "quiet place" })
    expect(session.state().chats.map(({ title }) => title)).toEqual(["Garden"])
  })
})

describe("settings", () => {
  test("model and effort hold for the chat, and a draft keeps them", async () => {
    const { join, kernel } = await start()
    const session = await join()
    await session.setModel("other")
    await session.setEffort("high")
    expect(session.state()).toMatchObject({ model: "other", effort: "high", chat: undefined })
    await session.send("hello")
    const { chat } = await idle(session, 2)
    expect(chat).toMatchObject({ model: "other", effort: "high" })
    expect(kernel.requests.at(0)).toMatchObject({ model: "other", effort: "high" })
    await session.setModel(null)
    await session.setEffort(null)
    expect(session.state()).toMatchObject({ model: "mock", chat: { model: null, effort: null } })
  })

  test("a model that does not exist is refused in one sentence", async () => {
    const { join, kernel } = await start()
    const session = await join({ chatId: kernel.newChat() })
    const refusal: Error = await session.setModel("othre").then(
      () => new Error("accepted"),
      (error) => error,
    )
    expect(refusal).toMatchObject({ name: "ClientError", code: "invalid" })
    expect(refusal.message).toContain("other")
  })
})

describe("what cannot be reached", () => {
  const failure = (session: Promise<Session>): Promise<Error> =>
    session.then(
      (opened) => {
        opened.close()
        return new Error("opened")
      },
      (error) => error,
    )

  test("a wrong token, a chat that is not there, a port without a kernel: one sentence each", async () => {
    const { url, join } = await start({ config: { server: { token: "right" } } })
    expect(await failure(join())).toMatchObject({
      code: "unauthorized",
      message: `the kernel at ${url} wants a token; give one with --token or EVA_TOKEN`,
    })
    expect(await failure(join({ token: "wrong" }))).toMatchObject({
      code: "unauthorized",
      message: `the kernel at ${url} does not accept this token; check --token or EVA_TOKEN`,
    })
    expect(await failure(join({ token: "right", chatId: "nowhere" }))).toMatchObject({
      code: "not_found",
    })
    expect(await failure(sessionAt("http://127.0.0.1:1"))).toMatchObject({
      code: "unreachable",
      message: "cannot reach the kernel at http://127.0.0.1:1: nothing listens there",
    })
    const other = cleaner.add(
      Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("hi") }),
      (server) => server.stop(true),
    )
    const address = `http://127.0.0.1:${other.port}`
    expect(await failure(sessionAt(address))).toMatchObject({
      code: "no_kernel",
      message: `what answers at ${address} is no eva-kernel`,
    })
    expect(await failure(sessionAt("localhost:8090"))).toMatchObject({ code: "usage" })
  })
})
