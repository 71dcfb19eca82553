/** Memories over HTTP, and in the prompts of turns. */
import { afterEach, describe, expect, test } from "bun:test"
import { parseJson } from "../../src/lib/json.ts"
import { plan } from "../support/kernel.ts"
import { type TestApi, testApi } from "./support.ts"

let api: TestApi
afterEach(() => api.dispose())

const start = async (config: object = {}) => {
  api = await testApi({ config: { master: { timezone: "Europe/Berlin", aliases: [] }, ...config } })
}
const save = async (content: string, more: object = {}) =>
  (await api.call("POST /v1/memories", { content, ...more })).json

describe("memories over HTTP", () => {
  test("MEM-18 API-079: are saved, also private ones, told apart from repetitions, and listed by kind and page", async () => {
    await start()
    const first = await save("Anna plays the violin", { private: true, importance: 4 })
    expect(first).toMatchObject({ id: 1, private: true, kind: "fact", merged: false })
    expect(await save("Anna plays the violin!")).toMatchObject({
      id: 1,
      merged: true,
      private: true,
    })
    await save("Boris bought a car", { kind: "event" })
    await save("Carl is a cook")
    const ids = async (query: string) => {
      const { json } = await api.call(`GET /v1/memories${query}`)
      return [json.memories.map(({ id }: { id: number }) => id), json.next_before]
    }
    expect(await ids("")).toEqual([[3, 2, 1], null])
    expect(await ids("?limit=2")).toEqual([[3, 2], 2])
    expect(await ids("?limit=2&before=2")).toEqual([[1], null])
    expect(await ids("?kind=event")).toEqual([[2], null])
    expect((await api.call("GET /v1/memories?kind=odd")).status).toBe(400)
    expect((await api.call("POST /v1/memories", { content: "" })).status).toBe(422)
  })

  test("an import is stored as it is", async () => {
    await start()
    const line = { dedup: false, source: "talk/1", created_at: "2023-05-08T13:56:00Z" }
    await save("Anna: hello", line)
    const again = await save("Anna: hello", line)
    expect(again).toMatchObject({ id: 2, merged: false, source: "talk/1", neighbours: [] })
    expect(again.created_at).toBe("2023-05-08T13:56:00.000Z")
  })

  test("are searched with the parts of each score, reinforced unless told otherwise", async () => {
    await start()
    await save("Anna plays the violin", { private: true })
    await save("Boris sells a violin")
    const search = async (query: string) =>
      (await api.call(`GET /v1/memories/search?q=violin${query}`)).json.memories
    const found = await search("&reinforce=false")
    expect(found).toHaveLength(2)
    expect(found[0].why).toMatchObject({ relevance: 1, importance: 1, closeness: null })
    expect((await search("&limit=1"))[0].hits).toBe(0)
    expect((await search("&public=true")).map(({ id }: { id: number }) => id)).toEqual([2])
    expect(
      (await api.call("GET /v1/memories/1")).json.hits +
        (await api.call("GET /v1/memories/2")).json.hits,
    ).toBe(2)
    expect((await api.call("GET /v1/memories/search?q=")).status).toBe(400)
  })

  test("MEM-30 MEM-31 API-080 API-081: deleting moves to the archive, from where a record comes back", async () => {
    await start()
    await save("Anna plays the violin")
    expect((await api.call("DELETE /v1/memories/1")).status).toBe(204)
    expect((await api.call("GET /v1/memories/1")).status).toBe(404)
    expect((await api.call("DELETE /v1/memories/1")).status).toBe(404)
    const { json } = await api.call("GET /v1/memories/archive")
    expect(json.memories).toMatchObject([{ id: 1, archived_by: "api", reason: null }])
    expect((await api.call("POST /v1/memories/archive/1/restore")).json).toMatchObject({ id: 1 })
    expect((await api.call("GET /v1/memories/archive")).json.memories).toEqual([])
    expect((await api.call("POST /v1/memories/archive/1/restore")).status).toBe(404)
    expect((await api.call("GET /v1/memories/1")).json.content).toBe("Anna plays the violin")
  })

  test("purging leaves nothing in the archive either", async () => {
    await start()
    await save("Anna plays the violin")
    await save("Boris sells a car")
    await api.call("DELETE /v1/memories/1")
    expect((await api.call("DELETE /v1/memories/1?purge=true")).status).toBe(204)
    expect((await api.call("DELETE /v1/memories/2?purge=true")).status).toBe(204)
    expect((await api.call("GET /v1/memories/archive")).json.memories).toEqual([])
    expect((await api.call("DELETE /v1/memories/2?purge=true")).status).toBe(404)
  })

  test("are corrected", async () => {
    await start()
    await save("Anna plays the violin")
    const { json } = await api.call("PATCH /v1/memories/1", { kind: "core", importance: 5 })
    expect(json).toMatchObject({ id: 1, kind: "core", importance: 5 })
    expect((await api.call("PATCH /v1/memories/1", { importance: 6 })).status).toBe(422)
    expect((await api.call("PATCH /v1/memories/x", { importance: 1 })).status).toBe(404)
  })
})

describe("the section of the prompt", () => {
  const QUESTION = "Anna's violin and debts"
  const lastState = () => {
    const { messages } = api.kernel.requests.at(-1)!
    const block = messages.at(-1)!.blocks.at(-1)!
    return block.type === "text" ? block.text : ""
  }
  const system = () =>
    api.kernel.requests
      .at(-1)!
      .system.map(({ text }) => text)
      .join("\n")

  test("MEM-26 API-082: GET /v1/memories/prompt shows it as a turn carries it, and reinforces nothing", async () => {
    await start()
    await save("The master is called Igor", { kind: "core" })
    await save("Anna plays the violin")
    await save("Anna has debts", { private: true })
    const shown = async (query = "") =>
      (await api.call(`GET /v1/memories/prompt?q=Anna%27s+violin+and+debts${query}`)).json
    await api.kernel.turn(await api.newChat(), { text: QUESTION, trusted: true })
    expect(lastState()).toEndWith(`\n${(await shown()).section}`)
    expect((await shown()).section).toContain("debts")
    await api.kernel.turn(await api.newChat(), QUESTION)
    const outside = (await shown("&public=true")).section
    expect(lastState()).toEndWith(`\n${outside}`)
    expect(outside).toContain("withheld")
    const { lines } = await shown("&explain=true")
    expect(lines).toHaveLength(3)
    expect(lines[0]).toMatchObject({ kind: "core", in_prompt: true, score: null, why: null })
    expect((await api.call("GET /v1/memories/2")).json.hits).toBe(0)
  })

  test("MEM-22 MEM-24: the rule of saving stands in the cached part, in the master's turns, without kinds", async () => {
    await start()
    await api.kernel.turn(await api.newChat(), "hello")
    const rule = /\[memory\]\n.*/.exec(system())![0]
    expect(rule).toContain("memory_save")
    expect(rule).not.toMatch(/core|fact|event|importance/)
    await guestTurn("hello")
    expect(system()).not.toContain("[memory]")
  })

  test("MEM-23: the rule names one criterion and three exclusions", async () => {
    await start()
    await api.kernel.turn(await api.newChat(), "hello")
    for (const part of ["the next you, in another chat", "history", "a file or a tool", "task"])
      expect(system()).toContain(part)
  })

  test("what a turn saves is recalled in the next, in another chat, behind an unchanged prefix", async () => {
    await start()
    const chat = await api.newChat()
    const call = { call: "memory_save", input: { content: "Anna plays the violin" } }
    await api.kernel.turn(chat, plan([call, { say: "Noted." }], "Remember it"))
    const before = system()
    await api.kernel.turn(await api.newChat(), "Tell me about Anna")
    expect(lastState()).toContain("1 | fact | now | 3 | Anna plays the violin")
    expect(system()).toBe(before)
  })

  test("MEM-19: a guest's turn carries nothing private, by prompt or by search", async () => {
    await start()
    await save("Anna has debts", { private: true })
    await save("Anna has heavy debts", { private: true, kind: "core", dedup: false })
    const search = { call: "memory_search", input: { query: "debts" } }
    await guestTurn(plan([search, { say: "ok" }], "What of Anna's debts?"))
    expect(
      JSON.stringify(api.kernel.requests.slice(1).map(({ messages }) => messages)),
    ).not.toContain("heavy debts")
    const said = parseJson(JSON.stringify(api.kernel.requests)) as unknown
    expect(JSON.stringify(said)).not.toContain("Anna has debts")
  })

  const guestTurn = async (text: string) => {
    const { json } = await api.call("POST /v1/persons/resolve", {
      source: "telegram",
      ext_id: "9",
      name: "Eve",
    })
    await api.kernel.turn(await api.newChat(), { text, sender: json.id })
  }
})
