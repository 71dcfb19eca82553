import { afterEach, expect, test } from "bun:test"
import { join } from "node:path"
import { dataDirectory } from "../../src/config/data-directory.ts"
import { defaultConfig } from "../../src/config/defaults.ts"
import { type Probe, probeModelServer } from "../../src/config/probe.ts"
import type { Environment } from "../../src/lib/environment.ts"
import { configError } from "./support.ts"

const servers: { stop(force: boolean): unknown }[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.stop(true)
})

const nobody: Probe = async () => undefined

const start = (environment: Environment, probe: Probe = nobody) =>
  defaultConfig({ environment, dataDir: "/data/eva-kernel", cwd: "/somewhere", probe })

test("without anything the mock answers, data lies in the data directory, loopback listens", async () => {
  const { config, provider, why, warnings } = await start({})
  expect(provider).toBe("mock")
  expect(why).toBe("no API key is set and no local model server answers")
  expect(config.llm.provider).toBe("mock")
  expect(config.server.listen).toBe("127.0.0.1:8090")
  expect(config.db.path).toBe("/data/eva-kernel/eva.db")
  expect(config.images.dir).toBe("/data/eva-kernel/images")
  expect(config.tools.dir).toBe("/data/eva-kernel/tools.d")
  expect(warnings).toEqual([])
})

test("the first key that is set decides: Anthropic, OpenRouter, OpenAI", async () => {
  const openai = { OPENAI_API_KEY: "key-openai" }
  const router = { ...openai, OPENROUTER_API_KEY: "key-router" }
  const anthropic = { ...router, ANTHROPIC_API_KEY: "key-anthropic" }

  const first = await start(anthropic)
  expect([first.provider, first.why]).toEqual(["Anthropic", "ANTHROPIC_API_KEY is set"])
  expect(first.config.llm).toMatchObject({ provider: "anthropic", api_key: "key-anthropic" })
  const second = await start(router)
  expect(second.provider).toBe("OpenRouter")
  expect(second.config.llm).toMatchObject({
    provider: "openai",
    base_url: "https://openrouter.ai/api/v1",
    api_key: "key-router",
  })
  const third = await start(openai)
  expect(third.provider).toBe("OpenAI")
  expect(third.config.llm).toMatchObject({ provider: "openai", api_key: "key-openai" })
  for (const { config, warnings } of [first, second, third]) {
    expect(config.llm.models.map((model) => model.name)).toEqual([config.llm.model.general])
    expect(config.llm.models[0]?.price_out).toBeGreaterThan(0)
    expect(warnings).toEqual([])
  }
})

test("a local server is asked only when no key is set; Ollama before llama-server", async () => {
  const asked: string[] = []
  const both: Probe = async (baseUrl) => {
    asked.push(baseUrl)
    return "qwen4:8b"
  }
  const found = await start({}, both)
  expect(found.provider).toBe("Ollama")
  expect(found.config.llm).toMatchObject({
    provider: "openai",
    base_url: "http://127.0.0.1:11434/v1",
    model: { general: "qwen4:8b" },
  })
  expect(asked).toEqual(["http://127.0.0.1:11434/v1", "http://127.0.0.1:8080/v1"])
  const second = await start({}, async (baseUrl) =>
    baseUrl.includes("8080") ? "m.gguf" : undefined,
  )
  expect(second.provider).toBe("llama-server")

  asked.length = 0
  await start({ ANTHROPIC_API_KEY: "key-anthropic" }, both)
  expect(asked).toEqual([])
})

test("EVA_ variables lie over the defaults and decide the provider", async () => {
  const mock = await start({
    ANTHROPIC_API_KEY: "key-anthropic",
    EVA_LLM__PROVIDER: "mock",
    EVA_SERVER__LISTEN: "127.0.0.1:0",
    EVA_DB__PATH: "here.db",
  })
  expect([mock.provider, mock.why]).toEqual(["mock", "EVA_LLM__PROVIDER is set"])
  expect(mock.config.llm).not.toHaveProperty("api_key")
  expect(mock.config.server.listen).toBe("127.0.0.1:0")
  expect(mock.config.db.path).toBe("/somewhere/here.db")
  expect(mock.config.images.dir).toBe("/somewhere/images")

  const named = await start({
    OPENAI_API_KEY: "key-openai",
    EVA_LLM__BASE_URL: "http://127.0.0.1:1/v1",
    EVA_LLM__MODEL__GENERAL: "fake",
    EVA_LLM__MODEL__FALLBACK: "[spare]",
  })
  expect(named.why).toBe("EVA_LLM__BASE_URL is set")
  expect(named.config.llm).toMatchObject({ provider: "openai", model: { general: "fake" } })
  expect(named.config.llm.models.map((model) => model.name)).toEqual(["fake", "spare"])
  // The key was made for another host.
  expect(named.config.llm).not.toHaveProperty("api_key")

  const claude = await start({
    ANTHROPIC_API_KEY: "key-anthropic",
    EVA_LLM__MODEL__GENERAL: "claude-next",
  })
  expect(claude.config.llm.models.map((model) => model.name)).toContain("claude-next")
  expect((await configError(start({ EVA_LLM__PROVIDER: "nobody" }))).path).toBe("llm.provider")
})

test("the data directory follows XDG, and the platform where that is not set", () => {
  expect(dataDirectory({ XDG_DATA_HOME: "/xdg", HOME: "/h" }, "linux")).toBe("/xdg/eva-kernel")
  expect(dataDirectory({ XDG_DATA_HOME: "relative", HOME: "/h" }, "linux")).toBe(
    "/h/.local/share/eva-kernel",
  )
  expect(dataDirectory({ HOME: "/h" }, "darwin")).toBe("/h/Library/Application Support/eva-kernel")
  expect(dataDirectory({ LOCALAPPDATA: "/local", HOME: "/h" }, "win32")).toBe(
    join("/local", "eva-kernel"),
  )
})

function modelServer(answer: (request: Request) => Response | Promise<Response>): string {
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, development: false, fetch: answer })
  servers.push(server)
  return `http://127.0.0.1:${server.port}/v1`
}

test("a model server names its first model that can talk", async () => {
  const paths: string[] = []
  const url = modelServer((request) => {
    paths.push(new URL(request.url).pathname)
    return Response.json({
      data: [{ id: "nomic-embed-text" }, { id: "qwen4:8b" }, { id: "other" }],
    })
  })
  expect(await probeModelServer(url)).toBe("qwen4:8b")
  expect(paths).toEqual(["/v1/models"])
})

test("whatever else listens on the port is no model server", async () => {
  expect(await probeModelServer(modelServer(() => new Response("<html>")))).toBeUndefined()
  expect(await probeModelServer(modelServer(() => Response.json({ data: "x" })))).toBeUndefined()
  expect(
    await probeModelServer(modelServer(() => new Response("", { status: 500 }))),
  ).toBeUndefined()
  expect(
    await probeModelServer(modelServer(() => Response.redirect("http://127.0.0.1:1/", 302))),
  ).toBeUndefined()
  expect(await probeModelServer(modelServer(() => new Promise(() => {})))).toBeUndefined()
  expect(await probeModelServer("http://127.0.0.1:1/v1")).toBeUndefined()
})
