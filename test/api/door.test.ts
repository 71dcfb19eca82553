/** Who may talk to the kernel: the door as a table, and in front of every route over real HTTP. */
import { afterEach, describe, expect, test } from "bun:test"
import { connect } from "node:net"
import { type DoorRules, isOpenPath, judge, type Verdict } from "../../src/api/door.ts"
import { type TestApi, type TestApiOptions, testApi } from "./support.ts"

const RULES: DoorRules = {
  listen: "127.0.0.1:8090",
  hosts: ["eva.example.org"],
  cors: ["https://page.example"],
  trust_proxy: false,
}

interface Call {
  method?: string
  path?: string
  rules?: Partial<DoorRules>
  headers?: Record<string, string>
}

function verdictOf({ method = "GET", path = "/v1/chats", rules, headers }: Call): Verdict {
  const sent = new Headers({ host: "127.0.0.1:8090", ...headers })
  return judge({ method, path, headers: sent }, { ...RULES, ...rules })
}

const outcome = (call: Call): string => {
  const verdict = verdictOf(call)
  return verdict.kind === "refuse" ? verdict.code : verdict.kind
}

/** The status that these very bytes are answered with. */
async function rawStatus(url: string, request: string): Promise<number> {
  const answer = Promise.withResolvers<string>()
  const socket = connect(Number(new URL(url).port), "127.0.0.1", () => socket.write(request))
  socket.on("data", (data) => answer.resolve(data.toString()))
  socket.on("error", answer.reject)
  const text = await answer.promise
  socket.destroy()
  return Number(text.split(" ")[1])
}

describe("the name a caller uses", () => {
  const known = [
    "localhost",
    "LOCALHOST:1",
    "127.0.0.1",
    "127.8.9.1:80",
    "[::1]:8090",
    "localhost.",
  ]
  const configured = ["eva.example.org", "EVA.Example.org:443", "eva.example.org."]
  test.each([...known, ...configured])("%s passes", (host) => {
    expect(outcome({ headers: { host } })).toBe("pass")
  })

  const foreign = ["evil.test", "localhost.evil.test", "evil.test:8090", "127.0.0.1.evil.test"]
  const broken = ["", "a b", "localhost@evil.test", "localhost/evil", "[::1", "10.0.0.5"]
  test.each([...foreign, ...broken, "2130706433", "0x7f.1"])("%p is refused", (host) => {
    expect(outcome({ headers: { host } })).toBe("forbidden")
  })

  test("no name at all is refused", () => {
    expect(judge({ method: "GET", path: "/", headers: new Headers() }, RULES).kind).toBe("refuse")
  })

  test("the configured listen address is a name of the kernel", () => {
    const headers = { host: "192.168.1.7:8090" }
    expect(outcome({ headers })).toBe("forbidden")
    expect(outcome({ headers, rules: { listen: "192.168.1.7:8090" } })).toBe("pass")
    const ipv6 = { headers: { host: "[FD00::7]:8090" }, rules: { listen: "[fd00::7]:8090" } }
    expect(outcome(ipv6)).toBe("pass")
  })

  test("neither a forwarded name nor an address opens the door", () => {
    const forged = { "x-forwarded-host": "localhost", "x-forwarded-for": "127.0.0.1" }
    const headers = { host: "evil.test", ...forged }
    expect(outcome({ headers })).toBe("forbidden")
    expect(outcome({ headers, rules: { trust_proxy: true } })).toBe("forbidden")
  })
})

describe("pages of other sites", () => {
  test.each([
    ["https://evil.test", "forbidden"],
    ["null", "forbidden"],
    ["http://localhost:3000", "forbidden"],
    ["http://127.0.0.1:8090.evil.test", "forbidden"],
    ["https://page.example.evil.test", "forbidden"],
    ["http://127.0.0.1:8090", "pass"],
    ["https://page.example", "pass"],
  ])("Origin %s: %s", (origin, expected) => {
    expect(outcome({ method: "POST", headers: { origin } })).toBe(expected)
    expect(outcome({ path: "/health", headers: { origin } })).toBe(expected)
  })

  test("behind a trusted proxy the public name counts as the page's own", () => {
    const origin = "https://eva.example.org"
    const headers = { origin, "x-forwarded-host": "eva.example.org" }
    expect(outcome({ headers })).toBe("forbidden")
    expect(outcome({ headers, rules: { trust_proxy: true } })).toBe("pass")
    const stranger = { origin: "https://evil.test", "x-forwarded-host": "evil.test" }
    expect(outcome({ headers: stranger, rules: { trust_proxy: true } })).toBe("forbidden")
  })

  test("a cross-site call without Origin reaches only what is open", () => {
    const headers = { "sec-fetch-site": "cross-site" }
    expect(outcome({ headers })).toBe("forbidden")
    expect(outcome({ path: "/", headers })).toBe("pass")
    expect(outcome({ path: "/images/x", headers })).toBe("pass")
    expect(outcome({ path: "/images/x", method: "POST", headers })).toBe("forbidden")
    expect(outcome({ headers: { "sec-fetch-site": "same-origin" } })).toBe("pass")
  })

  test("a listed page is told so, and asks beforehand without a token", () => {
    const headers = { origin: "https://page.example" }
    expect(verdictOf({ headers }).headers).toMatchObject({
      "Access-Control-Allow-Origin": "https://page.example",
      Vary: "Origin",
    })
    const asking = { ...headers, "access-control-request-method": "POST" }
    const preflight = { method: "OPTIONS", headers: asking, rules: { token: "secret-token" } }
    expect(outcome(preflight)).toBe("preflight")
    expect(outcome({ ...preflight, headers: { ...asking, origin: "https://evil.test" } })).toBe(
      "forbidden",
    )
  })
})

describe("the token", () => {
  const rules = { token: "correct-horse" }
  test.each([
    [{}, "unauthorized"],
    [{ authorization: "Bearer wrong" }, "unauthorized"],
    [{ authorization: "Basic correct-horse" }, "unauthorized"],
    [{ authorization: "Bearer correct-horse-and-more" }, "unauthorized"],
    [{ "x-eva-token": "" }, "unauthorized"],
    [{ "x-forwarded-for": "127.0.0.1" }, "unauthorized"],
    [{ authorization: "Bearer correct-horse" }, "pass"],
    [{ authorization: "bearer  correct-horse" }, "pass"],
    [{ "x-eva-token": "correct-horse" }, "pass"],
  ])("%j: %s", (headers, expected) => {
    expect(outcome({ headers: headers as Record<string, string>, rules })).toBe(expected)
    expect(outcome({ headers: headers as Record<string, string>, rules, path: "/health" })).toBe(
      "pass",
    )
  })

  test("only a listed page may read why it was not let in", () => {
    const headers = { origin: "https://page.example" }
    expect(verdictOf({ headers, rules }).headers).toHaveProperty("Access-Control-Allow-Origin")
  })

  test.each(["/", "/health", "/apidocs", "/apidocs/start.js", "/v1/openapi.json", "/images/x"])(
    "%s is open to read, not to write",
    (path) => {
      expect(isOpenPath(path)).toBe(true)
      expect(outcome({ path, rules })).toBe("pass")
      expect(outcome({ path, method: "HEAD", rules })).toBe("pass")
      expect(outcome({ path, method: "POST", rules })).toBe("unauthorized")
    },
  )

  test.each(["/healthy", "/apidocsx", "/v1/openapi.json.bak", "/imagesx", "/v1/chats", "//"])(
    "%s is not open",
    (path) => {
      expect(isOpenPath(path)).toBe(false)
    },
  )
})

describe("in front of every route", () => {
  let api: TestApi | undefined
  afterEach(async () => {
    await api?.dispose()
    api = undefined
  })
  const start = async (options?: TestApiOptions) => {
    api = await testApi(options)
    return api
  }
  const routesOf = async ({ call }: TestApi, headers?: Record<string, string>) => {
    const { json } = await call("GET /v1/openapi.json", undefined, headers)
    return Object.entries(json.paths as Record<string, object>).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => [
        method.toUpperCase(),
        path.replaceAll(/\{\w+\}/g, "x"),
      ]),
    ) as [string, string][]
  }

  test("a foreign Host gets 403 on every route of the document", async () => {
    const api = await start()
    const routes = await routesOf(api)
    expect(routes.length).toBeGreaterThan(35)
    for (const [method, path] of [...routes, ["GET", "/no/such/route"] as const]) {
      const reply = await api.call(`${method} ${path}`, undefined, { Host: "evil.test" })
      expect([method, path, reply.status, reply.json.code]).toEqual([
        method,
        path,
        403,
        "forbidden",
      ])
      expect(reply.headers.get("x-eva-version")).not.toBeNull()
    }
  })

  test("SRV-002 SEC-31: without server.token nobody is asked for one", async () => {
    const { call } = await start()
    expect((await call("GET /v1/chats")).status).toBe(200)
    expect((await call("POST /v1/chats", {})).status).toBe(200)
  })

  test("SRV-003 SEC-31: a token guards every route but the open ones", async () => {
    const api = await start({ config: { server: { token: "correct-horse-battery" } } })
    const routes = await routesOf(api)
    const open = new Set<string>()
    for (const [method, path] of routes) {
      const { status } = await api.call(`${method} ${path}`)
      if (status !== 401) open.add(`${method} ${path}`)
    }
    expect([...open].sort()).toEqual([
      "GET /",
      "GET /apidocs",
      "GET /apidocs/x",
      "GET /health",
      "GET /images/x",
      "GET /v1/openapi.json",
    ])
    const authorization = { Authorization: "Bearer correct-horse-battery" }
    expect((await api.call("GET /v1/chats", undefined, authorization)).status).toBe(200)
    const refused = await api.call("GET /v1/chats")
    expect(refused.headers.get("www-authenticate")).toBe("Bearer")
    expect(refused.json).toEqual({ code: "unauthorized", error: expect.stringContaining("token") })
  })

  test("no spelling of an address leads from an open path to a guarded route", async () => {
    const config = { server: { token: "correct-horse-battery", hosts: ["ab"] } }
    const { url } = await start({ config })
    const targets = [
      ...["/images/v1/chats", "/apidocs/v1/chats", "http://ab/images/v1/chats"],
      ...["/images/../v1/chats", "/images/%2e%2e/v1/chats", "/images/..%2fv1/chats"],
      ...["//images/../v1/chats", "/images/..\\v1/chats", "/images/?/../../v1/chats", "//v1/chats"],
    ]
    for (const target of targets) {
      for (const host of ["localhost", "ab"]) {
        const status = await rawStatus(url, `GET ${target} HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
        expect([target, host, [401, 404].includes(status)]).toEqual([target, host, true])
      }
    }
  })

  test("a request with two names, or with none, is refused", async () => {
    const { url } = await start()
    const two = "GET /v1/chats HTTP/1.1\r\nHost: localhost\r\nHost: evil.test\r\n\r\n"
    expect(await rawStatus(url, two)).toBe(403)
    expect(await rawStatus(url, "GET /v1/chats HTTP/1.0\r\n\r\n")).toBe(403)
  })

  test("SRV-004: without server.cors no reply says a word about CORS", async () => {
    const { call, url } = await start()
    const asking = { Origin: "https://page.example", "Access-Control-Request-Method": "POST" }
    const replies = [
      await call("GET /v1/chats", undefined, { Origin: url }),
      await call("GET /v1/chats", undefined, { Origin: "https://page.example" }),
      await call("OPTIONS /v1/chats", undefined, asking),
    ]
    expect(replies.map((reply) => reply.status)).toEqual([200, 403, 403])
    for (const { headers } of replies) {
      expect([...headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([])
    }
  })

  test("a page of a listed origin calls the API directly, streams included", async () => {
    const { call, open, newChat } = await start({
      config: { server: { cors: ["https://page.example"] } },
    })
    const origin = { Origin: "https://page.example" }
    const preflight = await call("OPTIONS /v1/chats/x/messages", undefined, {
      ...origin,
      "Access-Control-Request-Method": "POST",
      "Access-Control-Request-Headers": "content-type,idempotency-key",
    })
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get("access-control-allow-headers")).toContain("idempotency-key")
    const route = `POST /v1/chats/${await newChat()}/messages`
    const frames = await open(route, { text: "hello" }, origin)
    expect(frames.response.headers.get("access-control-allow-origin")).toBe("https://page.example")
    expect((await frames.toEnd()).at(-1)?.data.type).toBe("done")
  })

  test("a form of a foreign page cannot act", async () => {
    const { call, kernel } = await start()
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]) {
      const reply = await call("POST /v1/chats", '{"title":"forged"}', { "Content-Type": type })
      expect(reply.status).toBe(422)
    }
    expect(kernel.api.chats.list({})).toEqual([])
  })
})
