/** The plan of a chat over HTTP, and what clients are told of it outside of turns. */
import { afterEach, beforeEach, expect, test } from "bun:test"
import { nextEvent, plan } from "../support/kernel.ts"
import { type TestApi, testApi } from "./support.ts"

let api: TestApi
let chat: string
beforeEach(async () => {
  api = await testApi()
  chat = await api.newChat()
})
afterEach(() => api.dispose())

const path = (): string => `/v1/chats/${chat}/plan`

const layOut = (...titles: string[]) => {
  const tasks = titles.map((title) => ({ title, phase: "dig" }))
  const step = { call: "turn_plan", input: { op: "init", tasks } }
  return api.kernel.turn(chat, {
    ...{ text: plan([step, { say: "ok" }]), trusted: true, client_ops: true },
  })
}

test("API-038 PLAN-19 PLAN-20: is read as its tasks, none when there is no plan, and erased", async () => {
  expect((await api.call(`GET ${path()}`)).json).toEqual({ tasks: [] })
  expect((await api.call(`DELETE ${path()}`)).json).toEqual({ deleted: false })
  await layOut("a", "b")
  expect((await api.call(`GET ${path()}`)).json).toEqual({
    tasks: [
      { id: 1, phase: "dig", title: "a", status: "active" },
      { id: 2, phase: "dig", title: "b", status: "pending" },
    ],
  })
  const told = nextEvent(api.kernel, chat, "plan")
  expect((await api.call(`DELETE ${path()}`)).json).toEqual({ deleted: true })
  expect(await told).toMatchObject({ type: "plan", tasks: [] })
  expect((await api.call(`GET ${path()}`)).json).toEqual({ tasks: [] })
  chat = "nowhere"
  for (const method of ["GET", "DELETE"]) {
    expect((await api.call(`${method} ${path()}`)).status).toBe(404)
  }
})

test("PLAN-23: the catalogue of tools shows the gate", async () => {
  const { json } = await api.call("GET /v1/tools")
  const gated = json.tools.filter((tool: Record<string, unknown>) => tool.planning_only)
  expect(gated).toMatchObject([{ name: "turn_plan", planning_only: true, quiet: true }])
})

test("PLAN-26 CHAT-20 API-034: a branch goes on with a copy, and the parent with its own", async () => {
  await layOut("a", "b")
  await api.call(`PUT /v1/chats/${chat}/notes/build`, {
    description: "d",
    body: "make all",
    pinned: true,
  })
  const { json: page } = await api.call(`GET /v1/chats/${chat}/messages`)
  const { json: branch } = await api.call(`POST /v1/chats/${chat}/fork`, {
    before_message: page.messages.at(-1).id,
  })
  const parent = chat
  const { json: before } = await api.call(`GET ${path()}`)
  chat = branch.id
  expect((await api.call(`GET ${path()}`)).json).toEqual(before)
  expect((await api.call(`GET /v1/chats/${chat}/notes`)).json.notes).toMatchObject([
    { name: "build", body: "make all", pinned: true },
  ])
  await layOut("c")
  chat = parent
  expect((await api.call(`GET ${path()}`)).json).toEqual(before)
})

test("a cleared chat keeps its plan, and so does one that is taken back", async () => {
  await layOut("a")
  const { json: page } = await api.call(`GET /v1/chats/${chat}/messages`)
  await api.kernel.api.chats.rewind(chat, page.messages.at(-1).id)
  expect((await api.call(`GET ${path()}`)).json.tasks).toHaveLength(1)
  await api.call(`POST /v1/chats/${chat}/clear`)
  expect((await api.call(`GET ${path()}`)).json.tasks).toHaveLength(1)
})

test("PLAN-25: who joins a turn late is shown the newest plan in the place of the first, under the same id", async () => {
  const { kernel } = api
  const call = (input: object) => ({ call: "turn_plan", input })
  const steps = [
    call({ op: "init", tasks: [{ title: "a" }, { title: "b" }] }),
    call({ op: "done" }),
  ]
  let replayed: { type: string; json: string }[] = []
  kernel.api.registry.register({
    ...{ name: "join", group: "test", description: "Joins late.", gates: [], traits: {} },
    input: { type: "object", properties: {} },
    run: async ({ turnId }) => {
      replayed = kernel.api.turns.follow(turnId)!.replay()
      return { output: "joined" }
    },
  })
  const text = plan([...steps, { call: "join" }, { say: "ok" }])
  const events = await kernel.turn(chat, { text, trusted: true, client_ops: true })
  const seen = replayed.map(({ json }) => JSON.parse(json))
  const started = seen.find((event) => event.type === "item_started" && event.item.kind === "plan")
  const live = events.find((event) => event.type === "item_started" && event.item.kind === "plan")
  expect(started.item.id).toBe((live as typeof started).item.id)
  expect(seen.filter(({ type }) => type === "plan").map(({ tasks }) => tasks[0].status)).toEqual([
    "done",
  ])
})
