/** Chats over HTTP. What each setting means is tested with the chats; here: routes, bodies, replies. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { plan } from "../support/kernel.ts"
import { type TestApi, testApi } from "./support.ts"

let api: TestApi
beforeEach(async () => {
  api = await testApi()
})
afterEach(() => api.dispose())

const titles = async (query = "") =>
  (await api.call(`GET /v1/chats${query}`)).json.chats.map((chat: { title: string }) => chat.title)

test("API-022: a chat is made from what the body says, and from nothing", async () => {
  const body = { title: "Кухня", folder: "home", project: "p", workdir: "/srv/x" }
  const { status, json } = await api.call("POST /v1/chats", body)
  expect(status).toBe(200)
  expect(json).toMatchObject({ ...body, surface: null, workdir_on: "client" })
  const plain = await api.call("POST /v1/chats")
  expect(plain.json).toMatchObject({ title: "", folder: "default", workdir: null })
  const onServer = { workdir: "/srv/x", workdir_on: "server" }
  expect((await api.call("POST /v1/chats", onServer)).json).toMatchObject(onServer)
  const moon = await api.call("POST /v1/chats", { workdir: "/srv/x", workdir_on: "moon" })
  expect([moon.status, moon.json.path]).toEqual([400, "workdir_on"])
})

test("API-023: a chat is read with all its fields; an unknown one is 404", async () => {
  const id = await api.newChat({ title: "one" })
  const { json } = await api.call(`GET /v1/chats/${id}`)
  const fields = ["title", "folder", "surface", "project", "model", "effort", "toolset", "workdir"]
  const more = ["needs_attention", "forked_from", "forked_at_message", "next_sleep_at"]
  expect(Object.keys(json)).toEqual(expect.arrayContaining([...fields, ...more]))
  const unknown = await api.call("GET /v1/chats/01a22edc-0000-7000-8000-000000000000")
  expect([unknown.status, unknown.json.code]).toEqual([404, "not_found"])
})

test("API-018: the list is filtered by shelf, surface, project and bin, together too", async () => {
  await api.newChat({ title: "a", folder: "code:x", project: "p" })
  await api.newChat({ title: "b", folder: "code:y" })
  await api.newChat({ title: "c", surface: "telegram", project: "p" })
  const gone = await api.newChat({ title: "d" })
  await api.call(`DELETE /v1/chats/${gone}`)
  expect((await titles("?folder=code:*")).sort()).toEqual(["a", "b"])
  expect(await titles("?folder=code:y")).toEqual(["b"])
  expect(await titles("?surface=telegram")).toEqual(["c"])
  expect((await titles("?surface=any&project=p")).sort()).toEqual(["a", "c"])
  expect(await titles("?deleted=true")).toEqual(["d"])
})

test("API-019 SURF-004: a chat of a surface is listed only for who names the surface", async () => {
  await api.newChat({ title: "mine" })
  await api.newChat({ title: "theirs", surface: "telegram", folder: "people" })
  expect(await titles()).toEqual(["mine"])
  expect(await titles("?folder=people")).toEqual([])
  expect(await titles("?surface=telegram")).toEqual(["theirs"])
  expect((await titles("?surface=any")).sort()).toEqual(["mine", "theirs"])
})

test("API-020: quiet shelves are listed only when asked for, the sub-agents' by name alone", async () => {
  await api.newChat({ title: "plain" })
  await api.newChat({ title: "watched", folder: "youtube" })
  await api.newChat({ title: "coded", folder: "code", project: "p" })
  await api.newChat({ title: "helper", folder: "agents" })
  expect(await titles()).toEqual(["plain"])
  expect(await titles("?folder=youtube")).toEqual(["watched"])
  expect(await titles("?project=p")).toEqual(["coded"])
  expect((await titles("?surface=any")).sort()).toEqual(["coded", "plain", "watched"])
  expect(await titles("?folder=agents")).toEqual(["helper"])
})

test("API-021: shelves are counted, quiet ones included and marked", async () => {
  await api.newChat({})
  await api.newChat({ folder: "youtube" })
  await api.newChat({ folder: "people", surface: "telegram" })
  expect((await api.call("GET /v1/chats/folders")).json.folders).toEqual([
    { folder: "default", chats: 1, quiet: false },
    { folder: "youtube", chats: 1, quiet: true },
  ])
  expect((await api.call("GET /v1/chats/folders?surface=telegram")).json.folders).toEqual([
    { folder: "people", chats: 1, quiet: false },
  ])
})

test("pages of the list follow each other", async () => {
  for (const title of ["1", "2", "3"]) await api.newChat({ title })
  const first = await api.call("GET /v1/chats?limit=2")
  const seen = first.json.chats.map((chat: { title: string }) => chat.title)
  const rest = await titles(`?limit=2&before=${first.json.chats[1].id}`)
  expect([...seen, ...rest].sort()).toEqual(["1", "2", "3"])
})

test("CLNT-002 API-026: a chat moves to a shelf and back to the inbox, whoever made it", async () => {
  const id = await api.newChat({ folder: "code", project: "p" })
  const moved = await api.call(`PUT /v1/chats/${id}/folder`, { folder: "garden" })
  expect(moved.json).toMatchObject({ folder: "garden", project: "p" })
  for (const folder of [null, ""]) {
    await api.call(`PUT /v1/chats/${id}/folder`, { folder: "garden" })
    expect((await api.call(`PUT /v1/chats/${id}/folder`, { folder })).json.folder).toBe("default")
  }
})

describe("settings of a chat", () => {
  test("API-027: the model is set, cleared, and an unknown name is 400", async () => {
    const path = `PUT /v1/chats/${await api.newChat()}/model`
    expect((await api.call(path, { model: "other" })).json.model).toBe("other")
    const wrong = await api.call(path, { model: "othr" })
    expect([wrong.status, wrong.json.error]).toEqual([400, expect.stringContaining("other")])
    expect((await api.call(path, { model: null })).json.model).toBeNull()
    expect((await api.call(path, {})).status).toBe(422)
  })

  test("API-028: the effort is one of four levels or null", async () => {
    const path = `PUT /v1/chats/${await api.newChat()}/effort`
    for (const effort of ["off", "low", "mid", "high", null]) {
      expect((await api.call(path, { effort })).json.effort).toBe(effort)
    }
    expect((await api.call(path, { effort: "max" })).status).toBe(422)
  })

  test("API-029: a tool set is pinned and cleared", async () => {
    const path = `PUT /v1/chats/${await api.newChat()}/toolset`
    expect((await api.call(path, { toolset: "coding" })).json.toolset).toBe("coding")
    expect((await api.call(path, { toolset: null })).json.toolset).toBeNull()
  })

  test("API-030: the working directory is set and cleared; a wrong machine is 400", async () => {
    const path = `PUT /v1/chats/${await api.newChat()}/workdir`
    const set = await api.call(path, { workdir: "/srv/code", workdir_on: "server" })
    expect(set.json).toMatchObject({ workdir: "/srv/code", workdir_on: "server" })
    expect((await api.call(path, { workdir: "/home/me" })).json.workdir_on).toBe("client")
    expect((await api.call(path, { workdir: "/x", workdir_on: "moon" })).status).toBe(400)
    expect((await api.call(path, { workdir: "relative" })).status).toBe(400)
    for (const workdir of [null, ""]) {
      expect((await api.call(path, { workdir })).json.workdir).toBeNull()
    }
  })

  test("API-031: a chat is renamed and its call for attention cleared", async () => {
    const id = await api.newChat({ title: "before" })
    const calling = { needs: true, reason: "the disk is full" }
    expect((await api.call(`PUT /v1/chats/${id}/attention`, calling)).json).toMatchObject({
      needs_attention: true,
      attention_reason: "the disk is full",
    })
    const patch = { title: "after", needs_attention: false }
    expect((await api.call(`PATCH /v1/chats/${id}`, patch)).json).toMatchObject({
      title: "after",
      needs_attention: false,
      attention_reason: null,
    })
    expect((await api.call(`PATCH /v1/chats/${id}`, {})).status).toBe(422)
  })
})

test("a chat goes to the bin and comes back", async () => {
  const id = await api.newChat({ title: "kept" })
  const binned = await api.call(`DELETE /v1/chats/${id}`)
  expect(binned.json.deleted_at).toBeString()
  expect(await titles()).toEqual([])
  expect((await api.call(`POST /v1/chats/${id}/messages`, { text: "hello" })).status).toBe(409)
  const restored = await api.call(`POST /v1/chats/${id}/restore`)
  expect(restored.json.deleted_at).toBeNull()
  expect(await titles()).toEqual(["kept"])
})

test("clearing a chat erases its messages and keeps the chat", async () => {
  const id = await api.newChat({ title: "kept" })
  await api.kernel.turn(id, "hello")
  expect((await api.call(`POST /v1/chats/${id}/clear`)).json.title).toBe("kept")
  expect((await api.call(`GET /v1/chats/${id}/messages`)).json.messages).toEqual([])
})

test("API-033 API-035: a branch is made when it is asked for, and the parent stays", async () => {
  const id = await api.newChat({ title: "trunk", folder: "garden" })
  await api.kernel.turn(id, "first")
  await api.kernel.turn(id, "second")
  const { messages } = (await api.call(`GET /v1/chats/${id}/messages`)).json
  expect(await titles("?folder=garden")).toEqual(["trunk"])
  const body = { before_message: messages[2].id, title: "branch" }
  const fork = await api.call(`POST /v1/chats/${id}/fork`, body)
  expect(fork.json).toMatchObject({
    title: "branch",
    folder: "garden",
    forked_from: id,
    forked_at_message: messages[2].id,
  })
  const items = (await api.call(`GET /v1/chats/${fork.json.id}/items`)).json.items
  const copied = items.filter((item: { kind: string }) => item.kind.endsWith("_message"))
  expect(copied.map((item: { text: string }) => item.text)).toEqual(["first", "first"])
  expect((await api.call(`GET /v1/chats/${id}/messages`)).json.messages).toEqual(messages)
  const wrong = await api.call(`POST /v1/chats/${id}/fork`, { before_message: "nope" })
  expect([400, 404]).toContain(wrong.status)
})

test("API-036: a branch cut inside a turn is whole, branches again, costs for itself and outlives its parent", async () => {
  const id = await api.newChat({ title: "trunk" })
  await api.kernel.turn(id, plan([{ call: "person_list", input: {} }, { say: "nobody" }]))
  const { messages } = (await api.call(`GET /v1/chats/${id}/messages`)).json
  const cut = { before_message: messages[2].id }
  const branch = (await api.call(`POST /v1/chats/${id}/fork`, cut)).json.id
  const copied = (await api.call(`GET /v1/chats/${branch}/messages`)).json.messages
  const result = copied.flatMap((message: { blocks: { type: string }[] }) =>
    message.blocks.filter((block) => block.type === "tool_result"),
  )
  expect(result).toEqual([expect.objectContaining({ output: "[not executed: turn cancelled]" })])
  const twig = await api.call(`POST /v1/chats/${branch}/fork`, { before_message: copied[1].id })
  expect(twig.json.forked_from).toBe(branch)

  await api.call(`DELETE /v1/chats/${id}`)
  expect((await api.kernel.turn(branch, "go on")).at(-1)?.type).toBe("done")
  const spent = async (chat: string) => (await api.call(`GET /v1/chats/${chat}/spend`)).json.total
  expect([(await spent(id)).requests, (await spent(branch)).requests]).toEqual([2, 1])
})

test("API-037: a chat's spend has sums, sources, the thinking's part and the weight of its context", async () => {
  const id = await api.newChat()
  const usage = { prompt_tokens: 100, completion_tokens: 20, reasoning_tokens: 5 }
  await api.kernel.turn(id, plan([{ think: "hm", say: "hi", usage }]))
  const { json } = await api.call(`GET /v1/chats/${id}/spend`)
  expect(json.total).toMatchObject({ requests: 1, ...usage, reasoning_cost: null })
  expect(json.by_source).toEqual([expect.objectContaining({ source: "message", requests: 1 })])
  expect(json.by_model).toEqual([expect.objectContaining({ model: "mock", requests: 1 })])
  expect(json.context.tokens).toBeGreaterThan(0)
  expect(json.context.prefix_tokens).toBeGreaterThan(100)
})

test("CLNT-001: what one client did another one sees", async () => {
  const id = await api.newChat({ title: "shared" })
  await api.call(`POST /v1/chats/${id}/messages`, { text: "from the phone" })
  const other = await fetch(`${api.url}/v1/chats/${id}/items`)
  expect(await other.text()).toContain("from the phone")
  expect(await titles()).toEqual(["shared"])
})

test("CLNT-005: a coding session is a shelf and a project, a game's chat a surface; both are found by it and crowd no list", async () => {
  await api.newChat({ title: "coding", folder: "code", project: "eva" })
  await api.newChat({ title: "game", surface: "mtl", folder: "quests" })
  await api.newChat({ title: "plain" })
  expect(await titles()).toEqual(["plain"])
  expect(await titles("?folder=code&project=eva")).toEqual(["coding"])
  expect(await titles("?project=other")).toEqual([])
  expect(await titles("?surface=mtl")).toEqual(["game"])
})

test("CLNT-006: the shelves of videos and of sub-agents are quiet, that of problems is not", async () => {
  for (const folder of ["youtube", "problems", "agents"])
    await api.newChat({ title: folder, folder })
  expect(await titles()).toEqual(["problems"])
  expect(await titles("?folder=youtube")).toEqual(["youtube"])
  expect(await titles("?folder=agents")).toEqual(["agents"])
  expect((await api.call("GET /v1/config")).json.chats.problem_folder).toBe("problems")
})
