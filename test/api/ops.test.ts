/** Operations on the machine of a client: asked in the stream, answered over HTTP, settled in every case. */
import { afterEach, describe, expect, test } from "bun:test"
import { Type } from "@sinclair/typebox"
import { CLIENT_ACTIONS, OpResult } from "../../src/schema/client-op.ts"
import { REQUEST_KINDS } from "../../src/schema/resolution.ts"
import { plan } from "../support/kernel.ts"
import { type Asked, type ClientOptions, handTool, scriptedClient } from "./scripted-client.ts"
import { type TestApi, type TestApiOptions, testApi } from "./support.ts"

const TRUSTED = { trusted: true, client_ops: true }
const READ = { action: "read", path: "notes.txt" }

let api: TestApi | undefined
afterEach(async () => {
  await api?.dispose()
  api = undefined
})

async function start(options: TestApiOptions = {}, chatBody: object = {}) {
  const server = await testApi(options)
  api = server
  server.kernel.api.registry.register(handTool())
  const chat = await server.newChat(chatBody)
  const client = (answer?: ClientOptions["answer"], at = chat) =>
    scriptedClient({ api: server, chat: at, ...(answer && { answer }) })
  /** A turn in which the model has the client do these, one after another. */
  const turn = (ops: object[], more: object = TRUSTED) =>
    server.open(`POST /v1/chats/${chat}/messages`, {
      text: plan([...ops.map((input) => ({ call: "hand", input })), { say: "done" }]),
      ...more,
    })
  return { ...server, chat, client, turn }
}

const resultsOf = (frames: readonly { data: Asked }[]): Asked[] =>
  frames.map(({ data }) => data).filter((event) => event?.type === "tool_result")

describe("an operation", () => {
  test("SSE-007 OPS-007 OPS-017 TFILE-27 TFILE-28 API-052: goes out as one event with the fields of its action, the folder of the chat and what may be decided", async () => {
    const { client, turn, chat } = await start({}, { workdir: "/home/ada/project" })
    const { sees } = await client(() => ({ output: "the text", decision: "allow" }))
    const stream = await turn([{ op: READ }])
    expect(await sees("client_op")).toEqual({
      ...{ type: "client_op", op_id: expect.any(String), action: "read", path: "notes.txt" },
      ...{
        cwd: "/home/ada/project",
        decisions: ["allow", "allow_session", "allow_always", "deny"],
      },
      ...{ seq: expect.any(Number), chat_id: chat, turn_id: expect.any(String) },
    })
    expect(resultsOf(await stream.toEnd())).toMatchObject([{ output: "the text", is_error: false }])
  })

  test("no folder of the server is told to the client as its own", async () => {
    const { client, turn } = await start({}, { workdir: "/srv/data", workdir_on: "server" })
    const { sees } = await client(() => ({ output: "" }))
    const stream = await turn([{ op: READ }])
    expect(await sees("client_op")).not.toHaveProperty("cwd")
    await stream.toEnd()
  })

  test("TFILE-26 API-065: its result is found by its id, whatever chat it is posted to", async () => {
    const { client, turn, newChat, call } = await start()
    const other = await newChat()
    const { sees } = await client()
    const stream = await turn([{ op: READ }])
    const { op_id } = await sees("client_op")
    const reply = await call(`POST /v1/chats/${other}/ops/result`, { op_id, output: "found" })
    expect([reply.status, reply.json]).toEqual([200, { id: op_id }])
    expect(resultsOf(await stream.toEnd())).toMatchObject([{ output: "found" }])
    const again = await call(`POST /v1/chats/${other}/ops/result`, { id: op_id, output: "late" })
    expect([again.status, again.json.code]).toEqual([404, "not_found"])
  })

  test("OPS-001 TFILE-23: the actions are read, write, shell, their siblings for bytes, and list_up; nothing is composed on the wire", () => {
    expect(Object.keys(CLIENT_ACTIONS)).toEqual([
      ...["read", "write", "shell", "read_bytes", "write_bytes", "find_bytes", "list_up"],
    ])
  })

  test("OPS-002 OPS-003 OPS-004 TFILE-24: bytes travel in base64, with offsets, sizes and totals", async () => {
    const { client, turn } = await start()
    let file = Buffer.from("hello world")
    const hands: Record<string, (op: Asked) => object> = {
      read_bytes: ({ offset, size }) => ({
        data: file.subarray(offset, offset + size).toString("base64"),
      }),
      write_bytes: ({ offset, data, truncate }) => {
        const bytes = Buffer.from(data, "base64")
        const rest = truncate ? Buffer.alloc(0) : file.subarray(offset + bytes.length)
        file = Buffer.concat([file.subarray(0, offset), bytes, rest])
        return {}
      },
      find_bytes: ({ data, offset, limit }) => {
        const at = file.indexOf(Buffer.from(data, "base64"), offset)
        return { offsets: (at < 0 ? [] : [at]).slice(0, limit) }
      },
    }
    await client((op) => ({
      output: JSON.stringify({ ...hands[op.action]!(op), total: file.length }),
    }))
    const data = (text: string) => Buffer.from(text).toString("base64")
    const stream = await turn([
      { op: { action: "read_bytes", path: "f", offset: 6, size: 5 } },
      { op: { action: "write_bytes", path: "f", offset: 6, data: data("moon"), truncate: true } },
      { op: { action: "find_bytes", path: "f", data: data("moon"), offset: 0, limit: 3 } },
    ])
    const answers = resultsOf(await stream.toEnd()).map(({ output }) => JSON.parse(output))
    expect(answers).toEqual([
      { data: data("world"), total: 11 },
      { total: 10 },
      { offsets: [6], total: 10 },
    ])
  })

  test("OPS-005: list_up goes only to clients that read project files, and nobody is asked about it", async () => {
    const { client, turn } = await start()
    const found = JSON.stringify({ dirs: [{ dir: "/p", found: ["AGENTS.md"] }] })
    const { asked } = await client(() => ({ output: found }))
    const op = { action: "list_up", path: "/p", names: ["AGENTS.md"] }
    const without = await (await turn([{ op }])).toEnd()
    expect(resultsOf(without)).toMatchObject([{ is_error: true }])
    expect(asked).toEqual([])
    const stream = await turn([{ op }], { ...TRUSTED, project_docs: true })
    expect(resultsOf(await stream.toEnd())).toMatchObject([{ output: found, is_error: false }])
    expect(asked).toMatchObject([op])
    expect(asked[0]).not.toHaveProperty("decisions")
  })

  test("OPS-006 TFILE-25: a client that does not know an action says so, and the model reads it", async () => {
    const { client, turn } = await start()
    await client(() => ({ error: "unknown op action" }))
    const stream = await turn([
      { op: { action: "find_bytes", path: "f", data: "", offset: 0, limit: 1 } },
    ])
    expect(resultsOf(await stream.toEnd())).toMatchObject([
      { is_error: true, output: "unknown op action" },
    ])
  })

  test("OPS-008 TFILE-29: deny alone is the kernel's own refusal; deny with an error is that error", async () => {
    const { client, turn } = await start()
    await client(({ path }) => ({
      decision: "deny",
      ...(path === "b" && { error: "not that one" }),
    }))
    const stream = await turn([{ op: { ...READ, path: "a" } }, { op: { ...READ, path: "b" } }])
    const results = resultsOf(await stream.toEnd())
    expect(results).toMatchObject([
      { is_error: true, output: expect.stringContaining("The user refused this operation") },
      { is_error: true, output: "not that one" },
    ])
  })

  test("of an untrusted turn, or of a client without hands, is refused in words and asked of nobody", async () => {
    const { client, turn } = await start()
    const { asked } = await client(() => ({ output: "never" }))
    for (const claim of [{ client_ops: true }, { trusted: true }]) {
      const results = resultsOf(await (await turn([{ op: READ }], claim)).toEnd())
      expect(results).toMatchObject([
        { is_error: true, output: expect.stringContaining("no client") },
      ])
    }
    expect(asked).toEqual([])
  })
})

describe("every outcome is told", () => {
  test("SSE-009 TFILE-30: with id, kind and reason, also that of the client's own answer", async () => {
    const { client, turn, chat } = await start()
    const { sees } = await client(() => ({ output: "x" }))
    const stream = await turn([{ op: READ }])
    const { op_id, turn_id } = await sees("client_op")
    expect(await sees("request_resolved")).toEqual({
      ...{ type: "request_resolved", id: op_id, kind: "op", reason: "answered" },
      ...{ seq: expect.any(Number), chat_id: chat, turn_id },
    })
    await stream.toEnd()
  })

  test("OPS-015 OPS-016: without an answer it expires, which is an error for the model", async () => {
    const { client, turn, kernel } = await start()
    const { sees } = await client()
    const stream = await turn([{ op: READ, timeout_ms: 30 }])
    const { op_id } = await sees("client_op")
    expect(await sees("request_resolved")).toMatchObject({ id: op_id, reason: "expired" })
    expect(resultsOf(await stream.toEnd())).toMatchObject([
      { is_error: true, output: expect.stringContaining("got no answer within") },
    ])
    expect(kernel.requests).toHaveLength(2)
  })

  test("SSE-010 TFILE-31: a cancelled turn first ends whole, then its requests are released", async () => {
    const { client, turn, call, chat } = await start()
    const { sees, seen, post } = await client()
    const stream = await turn([{ op: READ }])
    const { op_id } = await sees("client_op")
    await call(`POST /v1/chats/${chat}/cancel`)
    expect(await sees("request_resolved")).toMatchObject({ id: op_id, reason: "cancelled" })
    const types = seen.map(({ data }) => data?.type)
    expect(types.indexOf("request_resolved")).toBeGreaterThan(types.indexOf("done"))
    expect((await stream.toEnd()).at(-1)!.data).toMatchObject({ type: "done", reason: "cancelled" })
    expect(await post({ id: op_id, output: "late" })).toBe(404)
  })

  test("SSE-010 ITM-011: what a turn did not wait for is released behind its end, and so is its item", async () => {
    const { client, kernel, open } = await start()
    kernel.api.registry.register(
      handTool({
        name: "forgetful",
        input: Type.Object({}),
        run: async (context) => {
          void context
            .clientOp({ action: "read", path: "f" }, { timeoutMs: 60_000 })
            .catch(() => {})
          return { output: "did not wait" }
        },
      }),
    )
    const { sees, seen } = await client()
    await (
      await open(`POST /v1/chats/${kernel.newChat()}/messages`, {
        ...{ text: plan([{ call: "forgetful" }, { say: "over" }]), ...TRUSTED },
      })
    ).toEnd()
    const { op_id } = await sees("client_op")
    const done = await sees("done")
    expect(await sees("request_resolved")).toMatchObject({ id: op_id, reason: "turn_ended" })
    const item = await sees("item_completed", (event) => event.item.kind === "client_op")
    expect(item.seq).toBeGreaterThan(done.seq)
    expect(item.item).toMatchObject({
      ...{ op_id, action: "read", path: "f", status: "aborted", resolution: "turn_ended" },
    })
    expect(seen.filter(({ data }) => data?.item?.kind === "client_op")).toHaveLength(2)
  })

  test("ITM-011: an operation is an item of the live turn alone and closes with its resolution", async () => {
    const { client, turn, call, chat } = await start()
    const { sees } = await client(() => ({ output: "x" }))
    await (await turn([{ op: READ }])).toEnd()
    const { op_id } = await sees("client_op")
    const isOp = (event: Asked) => event.item.kind === "client_op"
    expect((await sees("item_started", isOp)).item).toMatchObject({
      op_id,
      status: "running",
      ...READ,
    })
    expect((await sees("item_completed", isOp)).item).toMatchObject({
      ...{ op_id, status: "completed", resolution: "answered", ...READ },
    })
    const { items } = (await call(`GET /v1/chats/${chat}/items`)).json
    expect(items.map((item: Asked) => item.kind)).not.toContain("client_op")
  })

  test("a write that is under way when the turn is cancelled is waited for, and its result is kept", async () => {
    const { client, turn, call, chat, kernel } = await start()
    kernel.api.registry.removeGroup("test", "replaced")
    kernel.api.registry.register(handTool({ traits: { waitsOnCancel: true } }))
    const { sees, post } = await client()
    const stream = await turn([{ op: { action: "write", path: "f", content: "x" } }])
    const { op_id } = await sees("client_op")
    await call(`POST /v1/chats/${chat}/cancel`)
    expect(await post({ id: op_id, output: "wrote f" })).toBe(200)
    const frames = await stream.toEnd()
    expect(resultsOf(frames)).toMatchObject([{ output: "wrote f", is_error: false }])
    expect(frames.at(-1)!.data).toMatchObject({ type: "done", reason: "cancelled" })
  })

  test("OPS-018 TFILE-33: the kind permission is kept free", () => {
    expect(REQUEST_KINDS).toEqual(["op", "question", "permission"])
    expect(Object.keys(OpResult.properties)).toContain("decision")
  })
})

describe("a client that comes again", () => {
  test("OPS-013 TFILE-32: gets what waits marked as replayed; nobody carries it out, and it expires by itself", async () => {
    const { client, turn, open, chat } = await start()
    const { sees } = await client()
    const stream = await turn([{ op: READ, timeout_ms: 2000 }])
    const { op_id } = await sees("client_op")
    const late = await open(`GET /v1/chats/${chat}/live`)
    const { data } = await late.next("client_op")
    expect(data).toMatchObject({ op_id, replayed: true })
    const frames = await late.toEnd()
    expect(frames.find((frame) => frame.data?.type === "request_resolved")!.data).toMatchObject({
      ...{ id: op_id, reason: "expired" },
    })
    expect(resultsOf(await stream.toEnd())).toMatchObject([{ is_error: true }])
  })

  test("and resumes by number is not told to carry out what is settled since", async () => {
    const { client, turn, open } = await start()
    const { sees, post } = await client()
    const stream = await turn([{ op: READ }, { op: { ...READ, path: "second" } }])
    const first = await sees("client_op")
    await post({ id: first.op_id, output: "x" })
    const second = await sees("client_op", (event) => event.path === "second")
    const feed = await open(`GET /v1/feed?since=${first.seq - 1}`)
    await feed.until(() => feed.seen.some(({ data }) => data?.op_id === second.op_id))
    const ops = feed.seen.filter(({ data }) => data?.type === "client_op").map(({ data }) => data)
    expect(ops.map(({ path, replayed }) => [path, replayed])).toEqual([
      ["notes.txt", true],
      ["second", undefined],
    ])
    await post({ id: second.op_id, output: "y" })
    await stream.toEnd()
    await feed.leave()
  })
})

describe("progress", () => {
  test("API-066 TOOL-32 TSH-24 SEC-25: a snapshot is drawn at the call, cut to its last 8 KiB between letters, masked, and never stored", async () => {
    const secret = "sk-very-secret-key-of-the-kernel"
    const { client, turn, call, chat } = await start({
      config: { server: { token: undefined }, llm: { api_key: secret } },
    })
    const { sees, post } = await client()
    const stream = await turn([{ op: { action: "shell", command: "make", timeout_ms: 1000 } }])
    const { op_id } = await sees("client_op")
    const { id: callId } = await sees("tool_call")
    const output = `${"я".repeat(9000)} key=${secret} end`
    const reply = await call(`POST /v1/chats/${chat}/ops/progress`, { id: op_id, output })
    expect([reply.status, reply.json]).toEqual([200, { id: op_id }])
    const { id, output: shown } = await sees("tool_progress")
    expect(id).toBe(callId)
    expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(8192)
    expect(shown).toMatch(/^я+ key=.+ end$/)
    expect(shown).not.toContain(secret)
    const grown = await sees("item_delta", ({ delta }) => delta.progress !== undefined)
    expect(grown.delta.progress).toBe(shown)
    await post({ id: op_id, output: "built" })
    await stream.toEnd()
    expect((await call(`GET /v1/chats/${chat}/messages`)).text).not.toContain("яяя")
    const late = await call(`POST /v1/chats/${chat}/ops/progress`, { id: op_id, output: "x" })
    expect(late.status).toBe(404)
  })
})

describe("a module reads from the client's machine", () => {
  test("API-067 SEC-36: by the running turn's client; without one it is a conflict, and refusals keep their words", async () => {
    const { client, turn, call, chat } = await start()
    const path = `POST /v1/chats/${chat}/ops/read_bytes`
    const none = await call(path, { path: "shot.png" })
    expect([none.status, none.json.code]).toEqual([409, "conflict"])
    const answers: Record<string, object> = {
      "shot.png": { output: JSON.stringify({ total: 3, data: "AQID" }) },
      "gone.png": { error: "there is no gone.png" },
      "private.png": { decision: "deny" },
    }
    const { sees, asked, post } = await client(({ action, path }) =>
      action === "read_bytes" ? answers[path] : undefined,
    )
    const stream = await turn([{ op: READ }])
    const { op_id } = await sees("client_op")
    const piece = await call(path, { path: "shot.png", offset: 0, size: 3 })
    expect([piece.status, piece.json]).toEqual([200, { total: 3, data: "AQID" }])
    expect(asked.at(-1)).toMatchObject({
      action: "read_bytes",
      path: "shot.png",
      offset: 0,
      size: 3,
    })
    const gone = await call(path, { path: "gone.png" })
    expect([gone.status, gone.json.error]).toEqual([400, "there is no gone.png"])
    expect((await call(path, { path: "private.png" })).status).toBe(403)
    await post({ id: op_id, output: "x" })
    await stream.toEnd()
  })
})
