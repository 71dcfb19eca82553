/** Health, models, tools, settings, statistics, persons and one-shot answers over HTTP. */
import { afterEach, describe, expect, test } from "bun:test"
import { join } from "node:path"
import { systemClock } from "../../src/lib/clock.ts"
import { silentLog } from "../../src/lib/log.ts"
import { createSpend } from "../../src/spend/spend.ts"
import { openStore } from "../../src/store/open.ts"
import { createReader } from "../../src/store/reader.ts"
import { plan, tempFolder } from "../support/kernel.ts"
import { type TestApi, type TestApiOptions, testApi } from "./support.ts"

let api: TestApi | undefined
afterEach(async () => {
  await api?.dispose()
  api = undefined
})
const start = async (options?: TestApiOptions) => {
  api = await testApi(options)
  return api
}

test("API-001: health names version and revision, outside /v1", async () => {
  const { call } = await start({ parts: { build: { version: "1.2.3", commit: "abc123" } } })
  const reply = await call("GET /health")
  expect(reply.json).toEqual({ status: "ok", version: "1.2.3", commit: "abc123" })
  expect(reply.headers.get("x-eva-version")).toBe("1.2.3")
  expect((await call("GET /v1/health")).status).toBe(404)
  expect((await call("HEAD /health")).status).toBe(200)
})

test("the page at / says what this is and carries nothing from elsewhere", async () => {
  const { call, url } = await start()
  const page = await call("GET /")
  expect(page.headers.get("content-type")).toStartWith("text/html")
  expect(page.headers.get("content-security-policy")).toContain("default-src 'none'")
  expect(page.text).toContain("/apidocs")
  expect(page.text).toContain(`curl ${url}/v1/chats`)
  const addresses = page.text.match(/(?:src|href)="[^"]+"/g) ?? []
  expect(addresses.filter((text) => text.includes("//"))).toEqual([])
})

test("API-005 CTX-90: models come with efforts, windows, descriptions and who draws", async () => {
  const models = [
    { name: "mock", description: "talks", effort: "mid", context_window: 1000, multimodal: true },
    { name: "painter", image_output: true },
  ]
  const { call } = await start({ config: { llm: { models, reasoning: "low" } } })
  expect((await call("GET /v1/models")).json).toEqual({
    models: ["mock", "painter"],
    default: "mock",
    efforts: { mock: "mid" },
    effort_levels: ["off", "low", "mid", "high"],
    effort_default: "low",
    context_windows: { mock: 1000 },
    descriptions: { mock: "talks" },
    multimodal: ["mock"],
    image: ["painter"],
  })
})

describe("GET /v1/tools", () => {
  const tool = (name: string) => ({
    name,
    group: "weather",
    icon: "☔",
    brief: "{city}",
    description: "Tells the weather",
    input: { type: "object", properties: { city: { type: "string" } } },
    output: { type: "object", properties: { rain: { type: "boolean" } } },
    gates: ["master_only", "anchored_only"] as const,
    traits: { quiet: true },
    run: async () => ({ output: "rain" }),
  })

  test("API-006 API-007 BOOT-027 GATE-25 GATE-27 GATE-28 TOOL-40 SURF-014: a tool is shown as the model gets it, with raised gates alone", async () => {
    const { call, kernel, newChat } = await start({ config: { tools: { on_demand: ["weather"] } } })
    kernel.api.registry.register({ ...tool("weather_now"), gates: ["master_only"] })
    kernel.api.registry.register(tool("weather_now"))
    const { tools, collisions } = (await call("GET /v1/tools")).json
    const shown = tools.find(({ name }: { name: string }) => name === "weather_now")
    const spec = kernel.api.registry.list().find((entry) => entry.spec.name === "weather_now")?.spec
    expect(shown).toEqual({
      ...spec,
      group: "weather",
      icon: "☔",
      brief: "{city}",
      quiet: true,
      on_demand: true,
      master_only: true,
    })
    expect(collisions).toEqual(["weather_now"])
    const chat = await newChat()
    await kernel.turn(chat, "hi")
    const sent = kernel.requests[0]!.tools.find(({ name }) => name === "person_list")
    const listed = tools.find(({ name }: { name: string }) => name === "person_list")
    expect(listed).toMatchObject({ ...sent! })
  })
})

test("API-004: the settings in force are shown without any secret", async () => {
  const key = "sk-very-secret-0123456789"
  const config = {
    server: { token: "correct-horse-battery" },
    llm: {
      models: [{ name: "mock" }],
      providers: {
        far: { provider: "openai", base_url: `https://user:${key}@far.example/v1`, api_key: key },
      },
    },
  }
  const { call } = await start({ config })
  const reply = await call("GET /v1/config", undefined, { "X-Eva-Token": "correct-horse-battery" })
  expect(reply.text).not.toContain(key)
  expect(reply.text).not.toContain("correct-horse")
  expect(reply.json).toMatchObject({
    server: { token: "[redacted]", drain: "2m" },
    llm: { providers: { far: { api_key: "[redacted]" } } },
  })
  for (const method of ["PUT", "POST", "PATCH", "DELETE"]) {
    const write = await call(`${method} /v1/config`, {}, { "X-Eva-Token": "correct-horse-battery" })
    expect(write.status).toBe(405)
  }
})

describe("statistics", () => {
  test("API-009: calendar windows hold money, tokens, models and sources", async () => {
    const { call, kernel, newChat } = await start({
      config: { llm: { models: [{ name: "mock", price_in: 1, price_out: 10 }] } },
    })
    const usage = {
      prompt_tokens: 1000,
      completion_tokens: 100,
      reasoning_tokens: 40,
      cached_tokens: 5,
    }
    await kernel.turn(await newChat(), plan([{ say: "hi", usage }]))
    const { json } = await call("GET /v1/stats?tz=Asia/Tokyo")
    for (const window of [json.day, json.week, json.month]) {
      expect(window.total).toMatchObject({ ...usage, requests: 1, reasoning_cost: 0.0004 })
      expect(window.total).toHaveProperty("cache_write_tokens")
      expect(window.total.cost).toBeGreaterThan(0)
      expect(window.by_model[0].model).toBe("mock")
      expect(window.by_source[0].source).toBe("message")
    }
  })

  test("BOOT-021: the zone of ?tz= sets the day; an unknown one is 400", async () => {
    const { call } = await start()
    const begin = async (zone: string) => {
      const { json } = await call(`GET /v1/stats?tz=${zone}`)
      const hour = new Intl.DateTimeFormat("en-GB", {
        timeZone: zone,
        hour: "2-digit",
        minute: "2-digit",
      })
      return hour.format(new Date(json.day.from))
    }
    for (const zone of ["Asia/Kolkata", "America/New_York", "Pacific/Chatham", "UTC"]) {
      expect([zone, await begin(zone)]).toEqual([zone, "00:00"])
    }
    expect((await call("GET /v1/stats?tz=Mars/Olympus")).status).toBe(400)
  })

  test("API-010: limits, rules, advice, team and triage stand beside the sums", async () => {
    const folder = tempFolder()
    const store = openStore({ path: join(folder, "spend.db"), log: silentLog })
    const reader = createReader(store.path)
    const team = { spawned: 2, outcomes: { done: 1 }, reported: 1, silent: 0 }
    const spend = createSpend({
      ...{ store, reader, clock: systemClock },
      team: async () => team,
      rules: async () => [{ rule: "no-swearing", fired: 3 }],
      advisor: async () => [{ verdict: "warn", notes: 4 }],
    })
    spend.rateLimits.set("main", [{ name: "requests", limit: 50, remaining: 49 }])
    const { call } = await start({ parts: { spend } })
    const report = await call("POST /v1/stats/triage", { engaged: 5, responded: 2 })
    expect(report.status).toBe(204)
    const { json } = await call("GET /v1/stats")
    expect(json.rate_limits).toEqual([
      {
        upstream: "main",
        at: expect.any(String),
        limits: [{ name: "requests", limit: 50, remaining: 49 }],
      },
    ])
    expect(json.rules).toEqual([{ rule: "no-swearing", fired: 3 }])
    expect(json.advisor).toEqual([{ verdict: "warn", notes: 4 }])
    expect(json.day).toMatchObject({ team, triage: { engaged: 5, responded: 2 } })
    await reader.close()
    store.close()
  })

  test("API-012 SURF-013: triage counts of batches add up", async () => {
    const { call } = await start()
    await call("POST /v1/stats/triage", { engaged: 3, responded: 1 })
    await call("POST /v1/stats/triage", { engaged: 2, responded: 2 })
    expect((await call("GET /v1/stats")).json.day.triage).toEqual({ engaged: 5, responded: 3 })
    expect((await call("POST /v1/stats/triage", { engaged: -1, responded: 0 })).status).toBe(422)
  })
})

describe("persons", () => {
  const resolve = { source: "telegram", ext_id: "42", name: "Анна" }

  test("API-069: an external identity gives one lasting short id", async () => {
    const { call } = await start()
    const first = await call("POST /v1/persons/resolve", resolve)
    expect(first.json.id).toMatch(/^p\d+$/)
    const again = await call("POST /v1/persons/resolve", { source: "telegram", ext_id: "42" })
    expect(again.json).toEqual(first.json)
    expect((await call("POST /v1/persons/resolve", { source: "telegram" })).status).toBe(422)
  })

  test("API-070: persons are listed with their identities, renamed and merged", async () => {
    const { call } = await start()
    const anna = (await call("POST /v1/persons/resolve", resolve)).json
    const same = (await call("POST /v1/persons/resolve", { source: "mail", ext_id: "a@x" })).json
    expect((await call(`PATCH /v1/persons/${anna.id}`, { name: "Anna K." })).json.name).toBe(
      "Anna K.",
    )
    const merged = await call("POST /v1/persons/merge", { from: same.id, into: anna.id })
    expect(merged.json.aliases).toHaveLength(2)
    const { persons } = (await call("GET /v1/persons")).json
    expect(persons).toEqual([merged.json])
    expect((await call("PATCH /v1/persons/p99", { name: "x" })).status).toBe(404)
  })
})

describe("one-shot answers", () => {
  test("API-015: text in, text out; no chat, no tools, no history", async () => {
    const { call, kernel } = await start()
    const body = { system: "Be short.", prompt: "ping", model: "other", max_tokens: 50 }
    const reply = await call("POST /v1/complete", body)
    expect(reply.json).toMatchObject({ text: "ping", model: "other", usage: expect.any(Object) })
    const [request] = kernel.requests
    expect(request).toMatchObject({ model: "other", maxTokens: 50, tools: [] })
    expect(request!.system.map(({ text }) => text)).toEqual(["Be short."])
    expect(request!.messages).toHaveLength(1)
    expect(kernel.api.chats.list({ surface: "any" })).toEqual([])
  })

  test("API-016 STAT-20: what waiting may heal is 503, a refusal is 400, the text is the upstream's", async () => {
    const { call } = await start()
    // A hiccup is retried a few times before the caller hears of it.
    const ask = (fail: string) =>
      call("POST /v1/complete", { prompt: plan([{ fail }, { fail }, { fail }]) })
    const hiccup = await ask("transient")
    expect([hiccup.status, hiccup.json.code]).toEqual([503, "unavailable"])
    expect(hiccup.json.error).not.toBe("")
    for (const fail of ["refused", "fatal"]) {
      const refusal = await ask(fail)
      expect([fail, refusal.status, refusal.json.code]).toEqual([fail, 400, "invalid"])
    }
    const unknown = await call("POST /v1/complete", { prompt: "x", model: "nope" })
    expect([unknown.status, unknown.json.path]).toEqual([400, "model"])
  })

  test("API-017 CACHE-19: only cache: true marks the system head, for as long as llm.prompt_cache says", async () => {
    const { call, kernel } = await start({ config: { llm: { prompt_cache: "1h" } } })
    const schema = { type: "object", properties: { ok: { type: "boolean" } } }
    await call("POST /v1/complete", { system: "head", prompt: "a" })
    await call("POST /v1/complete", { system: "head", prompt: "b", cache: true, schema })
    const [plain, cached] = kernel.requests
    expect(plain!.cacheTtl).toBeUndefined()
    expect(cached!.cacheTtl).toBe("1h")
    expect(cached!.system[0]!.cacheMark).toBe(true)
    expect(cached!.answerSchema).toMatchObject({ schema, strict: false })
  })
})

test("what clients need of turns, spend, persons and attention is there", async () => {
  const { call, newChat } = await start()
  const chat = await newChat()
  const routes: [string, number, unknown?][] = [
    ["GET /v1/generations", 200],
    [`POST /v1/chats/${chat}/cancel`, 404],
    [`GET /v1/chats/${chat}/spend`, 200],
    [`GET /v1/chats/${chat}/context`, 200],
    ["GET /v1/persons", 200],
    [`PUT /v1/chats/${chat}/attention`, 200, { needs: false }],
  ]
  for (const [route, status, body] of routes) {
    expect([route, (await call(route, body)).status]).toEqual([route, status])
  }
})
