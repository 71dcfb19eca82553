/** What is told to somebody whose request cannot be served: one shape, no secrets, no stack. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { connect } from "node:net"
import { PROBLEM_STATUS } from "../../src/api/problem.ts"
import { ERROR_CODES } from "../../src/lib/error.ts"
import { recordedLog } from "../support/kernel.ts"
import { type TestApi, testApi } from "./support.ts"

let api: TestApi
beforeEach(async () => {
  api = await testApi({ config: { server: { body_max: 20_000 } } })
})
afterEach(() => api.dispose())

test("every code of the kernel has a status of its own kind", () => {
  for (const code of ERROR_CODES) expect(PROBLEM_STATUS[code]).toBeGreaterThanOrEqual(400)
})

describe("SRV-006: a body that is not JSON or misses the schema", () => {
  test.each([
    ["{bad", undefined, "not JSON"],
    ['"text"', undefined, "expected an object, found text"],
    ["[]", undefined, "expected an object, found a list"],
    ["null", undefined, "expected an object, found null"],
    ['{"titel":"x"}', "titel", "did you mean title?"],
    ['{"title":5}', "title", "expected text of at most 200 characters, found a number"],
    ['{"ephemeral":"yes"}', "ephemeral", "expected true or false, found text"],
    ['{"effort":"huge"}', "effort", '"off", "low", "mid", "high" or null, found text'],
    [`{"title":"${"x".repeat(201)}"}`, "title", "found 201 characters"],
  ])("%s is 422", async (body, path, error) => {
    const reply = await api.call("POST /v1/chats", body)
    expect(reply.status).toBe(422)
    const expected = { code: "unprocessable", error: expect.stringContaining(error) }
    expect(reply.json).toEqual(path === undefined ? expected : { ...expected, path })
  })

  test.each([
    [{ batch: [{ text: "a" }, { txt: "b" }] }, "batch[1].txt"],
    [{ batch: [] }, "batch"],
    [{ max_tokens: 0 }, "max_tokens"],
    [{ images: [{}] }, "images[0].data"],
    [{ client_key: "" }, "client_key"],
  ])("SRV-006: %j names the field %s", async (body, path) => {
    const reply = await api.call(`POST /v1/chats/${await api.newChat()}/messages`, body)
    expect(reply.status).toBe(422)
    expect(reply.json.path).toBe(path)
  })

  test("what was sent is never repeated", async () => {
    const secret = "sk-live-1234567890"
    const reply = await api.call("POST /v1/chats", { title: [secret], folder: { key: secret } })
    expect(reply.status).toBe(422)
    expect(reply.text).not.toContain(secret)
  })
})

describe("SRV-006: a fault in a value that fits is 400", () => {
  test.each([
    ["POST /v1/chats", { workdir: "/x", workdir_on: "moon" }, "workdir_on"],
    ["POST /v1/chats", { model: "no-such-model" }, "model"],
    ["GET /v1/chats?limit=0", undefined, "limit"],
    ["GET /v1/chats?limit=many", undefined, "limit"],
    ["GET /v1/chats?limit=1.5", undefined, "limit"],
    ["GET /v1/chats?deleted=perhaps", undefined, "deleted"],
    ["GET /v1/chats?foldr=x", undefined, "foldr"],
    ["GET /v1/stats?tz=Mars/Olympus", undefined, "tz"],
    ["GET /v1/feed?since=yesterday", undefined, "since"],
  ])("%s %j: %s", async (route, body, path) => {
    const reply = await api.call(route, body)
    expect([reply.status, reply.json.code, reply.json.path]).toEqual([400, "invalid", path])
  })
})

test("an unknown route is 404, API-092 CHAT-31: the removed ones of telegram too", async () => {
  for (const path of ["/v1/nope", "/v1/telegram/settings", "/v1/telegram"]) {
    for (const method of ["GET", "POST", "DELETE"]) {
      const reply = await api.call(`${method} ${path}`)
      expect([path, reply.status, reply.json.code]).toEqual([path, 404, "not_found"])
    }
  }
})

test("a wrong method is 405 and names the right ones", async () => {
  const reply = await api.call("PUT /v1/chats")
  expect(reply.status).toBe(405)
  expect(reply.headers.get("allow")).toBe("GET, POST")
  expect(reply.json.code).toBe("method_not_allowed")
})

test("an unknown chat is 404 on every route about one", async () => {
  const routes: [string, unknown?][] = [
    ["GET /v1/chats/x"],
    ["PATCH /v1/chats/x", { title: "t" }],
    ["DELETE /v1/chats/x"],
    ["POST /v1/chats/x/restore"],
    ["POST /v1/chats/x/clear"],
    ["POST /v1/chats/x/fork", { before_message: "m" }],
    ["GET /v1/chats/x/spend"],
    ["GET /v1/chats/x/context"],
    ["PUT /v1/chats/x/folder", { folder: "f" }],
    ["PUT /v1/chats/x/attention", { needs: true }],
    ["GET /v1/chats/x/messages"],
    ["GET /v1/chats/x/items"],
    ["POST /v1/chats/x/messages", { text: "t" }],
    ["POST /v1/chats/x/messages", { text: "t", silent: true }],
    ["DELETE /v1/chats/x/messages/m"],
    ["GET /v1/chats/x/live"],
    ["POST /v1/chats/x/cancel"],
  ]
  for (const [route, body] of routes) {
    const reply = await api.call(route, body)
    expect([route, reply.status, reply.json?.code]).toEqual([route, 404, "not_found"])
  }
})

describe("a body over server.body_max", () => {
  test("is 413 and says where the limit is set", async () => {
    const reply = await api.call("POST /v1/chats", { title: "x".repeat(30_000) })
    expect(reply.status).toBe(413)
    expect(reply.json).toEqual({
      code: "too_large",
      error: expect.stringContaining("server.body_max"),
    })
    expect(reply.headers.get("x-eva-version")).not.toBeNull()
  })

  test("is 413 without a declared length too, and the next request is served", async () => {
    const pieces = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(8192).fill(32)),
    })
    const request = {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: pieces,
    }
    const reply = await fetch(`${api.url}/v1/chats`, request)
    expect(reply.status).toBe(413)
    expect((await api.call("POST /v1/chats", {})).status).toBe(200)
  })

  test("is refused by its declared length before it is sent", async () => {
    const { port } = new URL(api.url)
    const answer = Promise.withResolvers<string>()
    const socket = connect(Number(port), "127.0.0.1", () => {
      socket.write(
        "POST /v1/chats HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n",
      )
      socket.write("Content-Length: 99999999999\r\n\r\n{")
    })
    socket.on("data", (data) => answer.resolve(data.toString()))
    socket.on("error", answer.reject)
    expect(await answer.promise).toStartWith("HTTP/1.1 413")
    socket.destroy()
  })
})

test("a fault shows a number, and the log the rest", async () => {
  const { log, lines } = recordedLog()
  const fault = () => {
    throw new Error("the password is hunter2")
  }
  const broken = await testApi({ parts: { log, complete: fault } })
  const reply = await broken.call("POST /v1/complete", { prompt: "hi" })
  await broken.dispose()
  expect(reply.status).toBe(500)
  expect(reply.json).toEqual({ code: "internal", error: expect.stringContaining("internal error") })
  expect(reply.text).not.toMatch(/hunter2|\.ts|at /)
  const id = /[0-9a-f-]{36}/.exec(reply.json.error)?.[0]
  expect(lines.filter((line) => line.includes(id!) && line.includes("hunter2"))).toHaveLength(1)
})

test("broken addresses and headers are answered, not thrown", async () => {
  for (const path of ["/v1/chats/%E0%A4%A", "/v1/chats/%00", "/v1/chats/..%2f..%2fetc", "/%"]) {
    const reply = await api.call(`GET ${path}`)
    expect([path, [400, 404].includes(reply.status)]).toEqual([path, true])
    expect(reply.json.error).toBeString()
  }
})
