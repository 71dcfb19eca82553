/** Saying something over HTTP, and reading it back. */
import { afterEach, describe, expect, test } from "bun:test"
import { plan } from "../support/kernel.ts"
import { type TestApi, type TestApiOptions, testApi, typesOf } from "./support.ts"

let api: TestApi
afterEach(() => api.dispose())
const start = async (options?: TestApiOptions) => {
  api = await testApi(options)
  const chat = await api.newChat()
  return { ...api, chat, path: `/v1/chats/${chat}` }
}

test("API-050 SSE-001 SSE-002 SSE-003 SSE-017: a send is answered by the stream of its turn", async () => {
  const { open, path } = await start()
  const text = plan([{ think: "let me see", say: "Hello, мир" }])
  const frames = await open(`POST ${path}/messages`, { text })
  expect(frames.response.headers.get("content-type")).toStartWith("text/event-stream")
  const seen = await frames.toEnd()
  const types = typesOf(seen)
  expect(types[0]).toBe("accepted")
  expect(types.at(-1)).toBe("done")
  expect(types).toContain("item_started")
  const joined = (type: string) =>
    seen.map(({ data }) => (data.type === type ? data.text : "")).join("")
  expect(joined("thinking_delta")).toBe("let me see")
  expect(joined("text_delta")).toBe("Hello, мир")
  for (const { data, id } of seen) {
    expect(data).toMatchObject({ seq: expect.any(Number), chat_id: expect.any(String) })
    expect(data.replayed).toBeUndefined()
    expect(id).toBeUndefined()
  }
})

test("SSE-004 SSE-005: calls and results of tools are events of the stream", async () => {
  const { open, path } = await start()
  const text = plan([{ call: "person_list", input: {} }, { say: "nobody yet" }])
  const seen = await (await open(`POST ${path}/messages`, { text })).toEnd()
  const call = seen.find(({ data }) => data.type === "tool_call")?.data
  const result = seen.find(({ data }) => data.type === "tool_result")?.data
  expect(call).toMatchObject({ name: "person_list", input: {}, id: expect.any(String) })
  expect(result).toMatchObject({ id: call.id, is_error: false, output: expect.any(String) })
})

test("SSE-018: the same turn as items: started whole, grown, completed for good", async () => {
  const { open, path } = await start()
  const text = plan([{ say: "looking", call: "person_list", input: {} }, { say: "nobody yet" }])
  const seen = (await (await open(`POST ${path}/messages`, { text })).toEnd()).map(
    ({ data }) => data,
  )
  const started = seen.filter(({ type }) => type === "item_started").map(({ item }) => item)
  const completed = seen.filter(({ type }) => type === "item_completed").map(({ item }) => item)
  expect(started.map((item) => item.kind)).toEqual(["agent_message", "tool_call", "agent_message"])
  expect(completed.map((item) => item.id)).toEqual(started.map((item) => item.id))
  expect(completed.map((item) => item.status)).toEqual(["completed", "completed", "completed"])
  expect(completed[1].result.is_error).toBe(false)
  const grown = seen.filter(({ type, id }) => type === "item_delta" && id === completed[2].id)
  expect(grown.map(({ delta }) => delta.text).join("")).toBe("nobody yet")
})

test("SSE-017: a turn that fails ends its stream with the reason in words", async () => {
  const { open, path } = await start()
  const frames = await open(`POST ${path}/messages`, { text: plan([{ fail: "refused" }]) })
  const last = (await frames.toEnd()).at(-1)?.data
  expect(last).toMatchObject({
    type: "error",
    message: expect.any(String),
    code: expect.any(String),
  })
})

test("API-061: muted events stay out of this stream alone; its end cannot be muted", async () => {
  const { open, path } = await start()
  const mute = ["text_delta", "item_delta", "done", "error", "no_such_event"]
  const seen = typesOf(await (await open(`POST ${path}/messages`, { text: "hi", mute })).toEnd())
  expect(seen).not.toContain("text_delta")
  expect(seen).not.toContain("item_delta")
  expect(seen).toContain("item_completed")
  expect(seen.at(-1)).toBe("done")
  const plain = typesOf(await (await open(`POST ${path}/messages`, { text: "hi" })).toEnd())
  expect(plain).toContain("text_delta")
})

test("a silent send stores and answers 202 with the ids", async () => {
  const { call, path } = await start()
  const batch = [
    { text: "one", ext_id: "11" },
    { text: "two", ext_id: "12" },
  ]
  const reply = await call(`POST ${path}/messages`, { silent: true, batch })
  expect(reply.status).toBe(202)
  const { messages } = (await call(`GET ${path}/messages`)).json
  expect(messages.map((message: { id: string }) => message.id)).toEqual(reply.json.message_ids)
  expect(messages.map((message: { ext_id: string }) => message.ext_id)).toEqual(["11", "12"])
})

describe("a send with a key", () => {
  test("is done once, by header or by field, and repeated from what is stored", async () => {
    const { open, call, path } = await start()
    const key = { "Idempotency-Key": "k-1" }
    const first = await (await open(`POST ${path}/messages`, { text: "hello" }, key)).toEnd()
    const again = await open(`POST ${path}/messages`, { text: "hello", client_key: "k-1" })
    const second = await again.toEnd()
    expect(second.every(({ data }) => data.replayed === true)).toBe(true)
    expect(second.at(-1)?.data).toMatchObject({ type: "done", turn_id: first[0]?.data.turn_id })
    expect((await call(`GET ${path}/messages`)).json.messages).toHaveLength(2)
  })

  test("attaches to the turn that runs: the past is marked, the rest is live, nothing twice", async () => {
    const { open, call, path } = await start()
    const body = { text: plan([{ say: "one two three four five", delay_ms: 20 }]), client_key: "k" }
    const first = await open(`POST ${path}/messages`, body)
    await first.next("text_delta")
    const second = await open(`POST ${path}/messages`, body)
    const seen = (await second.toEnd()).map(({ data }) => data)
    const text = seen.map(({ type, text }) => (type === "text_delta" ? text : "")).join("")
    expect(text).toBe("one two three four five")
    const marks = seen.map(({ replayed }) => replayed === true)
    expect(marks).toEqual([...marks].sort().reverse())
    expect(marks).toContain(false)
    await first.toEnd()
    expect((await call(`GET ${path}/messages`)).json.messages).toHaveLength(2)
  })

  test("is refused when header and field differ, or when the key is too long", async () => {
    const { call, path } = await start()
    const both = await call(
      `POST ${path}/messages`,
      { text: "x", client_key: "a" },
      { "Idempotency-Key": "b" },
    )
    expect([both.status, both.json.path]).toEqual([400, "client_key"])
    const long = await call(
      `POST ${path}/messages`,
      { text: "x" },
      { "Idempotency-Key": "k".repeat(65) },
    )
    expect([long.status, long.json.path]).toEqual([400, "idempotency-key"])
  })
})

test("API-051: a send without sender is the master's; a person's is a guest's", async () => {
  const { call, open, path } = await start()
  const guest = (
    await call("POST /v1/persons/resolve", { source: "telegram", ext_id: "7", name: "Bob" })
  ).json
  await (await open(`POST ${path}/messages`, { text: "mine" })).toEnd()
  await (await open(`POST ${path}/messages`, { text: "his", sender: guest.id })).toEnd()
  await (await open(`POST ${path}/messages`, { text: "also", guest: true })).toEnd()
  const { messages } = (await call(`GET ${path}/messages`)).json
  const said = messages.filter((message: { role: string }) => message.role === "user")
  const seen = said.map(({ master, sender }: { master: boolean; sender?: string }) => [
    master,
    sender,
  ])
  expect(seen).toEqual([
    [true, undefined],
    [false, guest.id],
    [false, undefined],
  ])
  const unknown = await call(`POST ${path}/messages`, { text: "x", sender: "p99" })
  expect([unknown.status, unknown.json.path]).toEqual([400, "sender"])
})

test("API-053: a client's context reaches the model when the client is trusted", async () => {
  const { open, path, kernel } = await start()
  const context = "The owner looks at page 7."
  await (await open(`POST ${path}/messages`, { text: "a", context })).toEnd()
  await (await open(`POST ${path}/messages`, { text: "b", context, trusted: true })).toEnd()
  const told = kernel.requests.map((request) => JSON.stringify(request).includes(context))
  expect(told).toEqual([false, true])
})

test("API-054 API-058: effort and model of one turn leave the chat as it is", async () => {
  const { open, call, path, kernel } = await start()
  await (await open(`POST ${path}/messages`, { text: "a", model: "other", effort: "high" })).toEnd()
  await (await open(`POST ${path}/messages`, { text: "b", surface_effort: "low" })).toEnd()
  expect(kernel.requests.map(({ model, effort }) => [model, effort])).toEqual([
    ["other", "high"],
    ["mock", "low"],
  ])
  expect((await call(`GET ${path}`)).json).toMatchObject({ model: null, effort: null })
  const unknown = await call(`POST ${path}/messages`, { text: "x", model: "othr" })
  expect([unknown.status, unknown.json.path]).toEqual([400, "model"])
})

test("API-056: a trusted client's turn may go past the cap of iterations, another's may not", async () => {
  const { open, path } = await start({ config: { llm: { max_turn_iterations: 2 } } })
  const calls = Array.from({ length: 4 }, () => ({ call: "person_list", input: {} }))
  const body = { text: plan([...calls, { say: "all done" }]), uncapped_iterations: true }
  const last = async (send: object) =>
    (await (await open(`POST ${path}/messages`, send)).toEnd()).at(-1)?.data.type
  expect(await last(body)).toBe("error")
  expect(await last({ ...body, trusted: true })).toBe("done")
})

test("API-057: what a surface says of a message is kept, names its chat, and bounds its turn", async () => {
  const { open, call, path, kernel } = await start()
  const reply = { reply_to_ext_id: "40", reply_to_text: "the earlier one", ext_id: "41" }
  const surface = { anchor: "tg:1:41", chat_title: "Family", brief: true, max_tokens: 77 }
  const body = { text: "hello", ...reply, ...surface, surface_model: "other" }
  await (await open(`POST ${path}/messages`, body)).toEnd()
  const { messages } = (await call(`GET ${path}/messages`)).json
  expect(messages[0]).toMatchObject({ ...reply, anchor: "tg:1:41" })
  expect((await call(`GET ${path}`)).json.title).toBe("Family")
  expect(kernel.requests[0]!.system[0]!.text).toContain("brief")
  await call(`PUT ${path}/model`, { model: "mock" })
  await (await open(`POST ${path}/messages`, body)).toEnd()
  expect(kernel.requests.map(({ model, maxTokens }) => [model, maxTokens])).toEqual([
    ["other", 77],
    ["mock", 77],
  ])
  expect(kernel.requests[0]!.system.map(({ text }) => text).join()).toContain("brief")
})

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

test("API-059 API-003: a picture is attached, stored, and served by its id without a token", async () => {
  const config = {
    server: { token: "correct-horse-battery" },
    llm: { models: [{ name: "mock", multimodal: true }] },
  }
  api = await testApi({ config })
  const token = { "X-Eva-Token": "correct-horse-battery" }
  const { id } = (await api.call("POST /v1/chats", {}, token)).json
  const body = { text: "look", images: [{ data: PIXEL }] }
  await (await api.open(`POST /v1/chats/${id}/messages`, body, token)).toEnd()
  const { items } = (await api.call(`GET /v1/chats/${id}/items`, undefined, token)).json
  const [imageId] = items[0].images
  expect([...api.kernel.requests[0]!.images.values()]).toEqual([
    { mediaType: "image/png", base64: PIXEL },
  ])
  const picture = await fetch(`${api.url}/images/${imageId}`)
  expect(picture.status).toBe(200)
  expect(picture.headers.get("content-type")).toBe("image/png")
  expect(picture.headers.get("cache-control")).toContain("immutable")
  expect((await picture.bytes()).toBase64()).toBe(PIXEL)
  const gone = await api.call(`GET /images/${crypto.randomUUID()}`)
  expect([gone.status, gone.json.code]).toEqual([404, "not_found"])
})

test("a picture that is none is refused with the field", async () => {
  const { call, path } = await start()
  const body = { text: "look", images: [{ data: btoa("not a picture") }] }
  const reply = await call(`POST ${path}/messages`, body)
  expect(reply.status).toBe(400)
  expect(reply.json.path).toContain("images")
})

test("API-048: stored messages come in pages, with thoughts, turn and speaker", async () => {
  const { call, path, kernel, chat } = await start()
  await kernel.turn(chat, plan([{ think: "hm", say: "one" }]))
  await kernel.turn(chat, "two")
  const { messages } = (await call(`GET ${path}/messages`)).json
  expect(messages).toHaveLength(4)
  expect(messages[1].blocks[0]).toMatchObject({ type: "thinking", text: "hm" })
  expect(messages[0]).toMatchObject({ master: true, turn_id: messages[1].turn_id })
  const page = await call(`GET ${path}/messages?limit=1&before=${messages[3].id}`)
  expect(page.json.messages).toEqual([messages[2]])
  const around = await call(`GET ${path}/messages?limit=3&around=${messages[1].id}`)
  expect(around.json.messages).toEqual(messages.slice(0, 3))
  const wrong = await call(`GET ${path}/messages?before=nope`)
  expect([wrong.status, wrong.json.path]).toEqual([400, "before"])
})

test("API-063: history as items, cut at an item or around one; a bad cursor is 400", async () => {
  const { call, path, kernel, chat } = await start()
  await kernel.turn(chat, plan([{ think: "hm", say: "one" }]))
  await kernel.turn(chat, "two")
  const { items } = (await call(`GET ${path}/items`)).json
  expect(items.map((item: { kind: string }) => item.kind)).toEqual([
    "user_message",
    "thinking",
    "agent_message",
    "user_message",
    "agent_message",
  ])
  const before = await call(`GET ${path}/items?limit=1&before=${items[3].id}`)
  expect(before.json.items).toEqual(items.slice(1, 3))
  const around = await call(`GET ${path}/items?limit=2&around=${items[0].id}`)
  expect(around.json.items).toContainEqual(items[0])
  const end = await call(`GET ${path}/items?before=${items[0].id}`)
  expect(end.json.items).toEqual([])
  for (const cursor of ["before=nope", "around=nope", "before=nope:1"]) {
    expect((await call(`GET ${path}/items?${cursor}`)).status).toBe(400)
  }
})

test("taking a message back removes it and everything later", async () => {
  const { call, path, kernel, chat } = await start()
  await kernel.turn(chat, "one")
  await kernel.turn(chat, "two")
  const { messages } = (await call(`GET ${path}/messages`)).json
  const reply = await call(`DELETE ${path}/messages/${messages[2].id}`)
  expect(reply.json.deleted).toEqual([messages[2].id, messages[3].id])
  expect((await call(`GET ${path}/messages`)).json.messages).toEqual(messages.slice(0, 2))
  expect((await call(`DELETE ${path}/messages/nope`)).status).toBe(404)
})
