import { expect, test } from "bun:test"
import { join } from "node:path"
import type { Config } from "../../src/config/schema.ts"
import { configError, configFolder, loadText, MINIMAL } from "./support.ts"

/** The configuration with these lines in section `llm`, and one listed model `m`. */
async function llm(lines: string): Promise<Config["llm"]> {
  const indented = lines.replaceAll("\n", "\n  ")
  const { config } = await loadText(
    `server: {}\ndb: { path: eva.db }\nllm:\n  provider: openai\n  base_url: http://upstream.test/v1\n  ${indented}\n`,
  )
  return config.llm
}

const LISTED = "model: { general: m }\nmodels: [{ name: m }]"

const llmError = async (lines: string) => (await configError(llm(lines))).path

test("CFG-001 CFG-002: server.listen and server.drain have their defaults and can be set", async () => {
  const { server } = (await loadText(MINIMAL)).config
  expect(server).toEqual({
    listen: "127.0.0.1:8090",
    drain: 120_000,
    hosts: [],
    cors: [],
    trust_proxy: false,
    body_max: 32 * 1024 * 1024,
  })
  const set = await loadText(
    MINIMAL.replace("{}", "{ listen: '[::1]:0', drain: 1s, body_max: 100 }"),
  )
  expect(set.config.server).toMatchObject({ listen: "[::1]:0", drain: 1000, body_max: 100 })
})

test("CFG-003: db.path is required and names the one file", async () => {
  using folder = configFolder({ "config.yaml": MINIMAL })
  expect((await folder.load()).config.db.path).toBe(join(folder.dir, "eva.db"))
  expect((await configError(loadText(MINIMAL.replace("{ path: eva.db }", "{}")))).path).toBe(
    "db.path",
  )
})

test("CFG-004: llm.provider is required and one of four; venice serves a named upstream only", async () => {
  for (const provider of ["anthropic", "openai", "mock"] as const) {
    const { config } = await loadText(
      `server: {}\ndb: { path: eva.db }\nllm: { provider: ${provider}, ${LISTED.replace("\n", ", ")} }\n`,
    )
    expect(config.llm.provider).toBe(provider)
  }
  const main = `server: {}\ndb: { path: eva.db }\nllm: { provider: venice, ${LISTED.replace("\n", ", ")} }\n`
  const error = await configError(loadText(main))
  expect(error.path).toBe("llm.provider")
  expect(error.message).toContain("only draws pictures")
  const named = await llm(
    "model: { general: m }\nmodels: [{ name: m }, { name: z, image_output: true, provider: v }]\nproviders: { v: { provider: venice } }",
  )
  expect(named.providers.v?.provider).toBe("venice")
  expect(
    await llmError(
      "model: { general: z }\nmodels: [{ name: z, provider: v }]\nproviders: { v: { provider: venice } }",
    ),
  ).toBe("llm.model.general")
  expect(
    (await configError(loadText("server:\ndb: { path: a }\nllm: { model: { general: m } }"))).path,
  ).toBe("llm.provider")
})

test("CFG-005 CFG-006 CFG-007 CFG-008: key, base URL, proxy and temperature of the main upstream", async () => {
  expect(await llm(LISTED)).not.toHaveProperty("proxy")
  expect(await llm(LISTED)).not.toHaveProperty("temperature")
  expect(await llm(LISTED)).not.toHaveProperty("api_key")
  expect(
    await llm(`${LISTED}\napi_key: k\nproxy: http://127.0.0.1:3128\ntemperature: 0.2`),
  ).toMatchObject({
    api_key: "k",
    base_url: "http://upstream.test/v1",
    proxy: "http://127.0.0.1:3128",
    temperature: 0.2,
  })
  expect(await llmError(`${LISTED}\nproxy: somewhere`)).toBe("llm.proxy")
  expect(await llmError(`${LISTED}\ntemperature: 3`)).toBe("llm.temperature")
})

test("CFG-009 BOOT-018: llm.reasoning is a level, off by default; true reads as mid and false as off", async () => {
  expect((await llm(LISTED)).reasoning).toBe("off")
  for (const [written, level] of [
    ["off", "off"],
    ["low", "low"],
    ["mid", "mid"],
    ["high", "high"],
    ["true", "mid"],
    ["false", "off"],
  ] as const) {
    expect((await llm(`${LISTED}\nreasoning: ${written}`)).reasoning).toBe(level)
  }
  expect(await llmError(`${LISTED}\nreasoning: deep`)).toBe("llm.reasoning")
})

test("CFG-010 CFG-011 CFG-014 CFG-015 CFG-016: switches and limits of turns have their defaults", async () => {
  expect(await llm(LISTED)).toMatchObject({
    magic_keywords: true,
    structured_output: false,
    max_turn_iterations: 16,
    max_tokens: 8192,
    max_tokens_guest: 1024,
    first_token_timeout: 300_000,
    silence_timeout: 90_000,
    retry: { attempts: 4, budget: 120_000, first_delay: 500, max_delay: 30_000 },
    wire: "chat",
  })
  expect(
    await llm(
      `${LISTED}\nmagic_keywords: false\nstructured_output: true\nmax_turn_iterations: 3\nmax_tokens: 5\nmax_tokens_guest: 4`,
    ),
  ).toMatchObject({
    magic_keywords: false,
    structured_output: true,
    max_turn_iterations: 3,
    max_tokens: 5,
    max_tokens_guest: 4,
  })
})

test("CFG-012 CFG-013: prompt_cache is 5m or 1h, prompt_cache_telegram also off, both unset by default", async () => {
  const unset = await llm(LISTED)
  expect(unset).not.toHaveProperty("prompt_cache")
  expect(unset).not.toHaveProperty("prompt_cache_telegram")
  expect(await llm(`${LISTED}\nprompt_cache: 1h\nprompt_cache_telegram: off`)).toMatchObject({
    prompt_cache: "1h",
    prompt_cache_telegram: "off",
  })
  expect(await llmError(`${LISTED}\nprompt_cache: off`)).toBe("llm.prompt_cache")
})

test("CFG-017 CFG-018 CFG-019 CFG-020 CFG-021 CFG-022: roles of models", async () => {
  expect((await llm(LISTED)).model).toEqual({ general: "m", fallback: [] })
  const roles = { general: "m", fastest: "a", smartest: "b", advisor: "c", fallback: ["b", "a"] }
  const set = await llm(
    `model: ${JSON.stringify(roles)}\nmodels: [{ name: m }, { name: a }, { name: b }, { name: c }]`,
  )
  expect(set.model).toEqual(roles)
  expect(await llmError("model: {}\nmodels: [{ name: m }]")).toBe("llm.model.general")
})

test("CFG-023 CFG-024 CFG-025: code, image and summary model; the first drawing model draws by default", async () => {
  const plain = await llm(LISTED)
  for (const key of ["code_model", "image_model", "summary_model"])
    expect(plain).not.toHaveProperty(key)
  const drawing =
    "models: [{ name: m }, { name: d, image_output: true }, { name: e, image_output: true }]"
  expect((await llm(`model: { general: m }\n${drawing}`)).image_model).toBe("d")
  expect(
    await llm(`model: { general: m }\n${drawing}\nimage_model: e\ncode_model: m\nsummary_model: d`),
  ).toMatchObject({ image_model: "e", code_model: "m", summary_model: "d" })
})

test("CFG-026 CFG-027 CFG-028 CFG-029 CFG-030 CFG-031 CFG-032 CFG-033 CFG-034: entries of llm.models", async () => {
  expect((await llm(LISTED)).models).toEqual([
    { name: "m", multimodal: false, image_output: false },
  ])
  const full = {
    name: "m",
    description: "for everything",
    multimodal: true,
    image_output: true,
    jailbreak: "be free",
    effort: "high",
    provider: "up",
    price_in: 1,
    price_out: 2.5,
    price_cache_read: 0.1,
    price_cache_write: 1.25,
    context_window: 200_000,
    max_output: 8000,
  } as const
  const set = await llm(
    `model: { general: m }\nproviders: { up: { provider: mock } }\nmodels: [${JSON.stringify(full)}]`,
  )
  expect(set.models).toEqual([full])
  expect(await llmError("model: { general: m }\nmodels: [{ name: m, context_window: 0 }]")).toBe(
    "llm.models[0].context_window",
  )
  expect(await llmError("model: { general: m }\nmodels: [{ name: m }, { name: m }]")).toBe(
    "llm.models[1].name",
  )
})

test("CFG-035: a named upstream has connection fields of its own and takes only its manner from llm", async () => {
  const set = await llm(
    `${LISTED}\napi_key: main-key\nproxy: http://p.test\nreasoning: high\ntemperature: 0.3\nprompt_cache: 5m\nproviders:\n  plain: { provider: openai, base_url: 'http://b.test' }\n  own: { provider: anthropic, wire: chat, api_key: k2, base_url: 'http://c.test', proxy: 'http://q.test', reasoning: off, temperature: 1, prompt_cache: 1h }`,
  )
  expect(set.providers.plain).toEqual({
    provider: "openai",
    wire: "chat",
    base_url: "http://b.test",
    reasoning: "high",
    temperature: 0.3,
    prompt_cache: "5m",
  })
  expect(set.providers.own).toEqual({
    provider: "anthropic",
    wire: "chat",
    api_key: "k2",
    base_url: "http://c.test",
    proxy: "http://q.test",
    reasoning: "off",
    temperature: 1,
    prompt_cache: "1h",
  })
})

test("CFG-037 CFG-038 CFG-039: pictures lie beside the database, thirty days, without a public address", async () => {
  using folder = configFolder({
    "config.yaml": "server: {}\ndb: { path: data/eva.db }\nllm: { provider: mock }\n",
    "more.yaml":
      "images: { dir: pics, keep: 1h, base_url: 'https://eva.test', max_bytes: 1 MiB }\n",
  })
  expect((await folder.load()).config.images).toEqual({
    dir: join(folder.dir, "data", "images"),
    keep: 30 * 86_400_000,
    max_bytes: 5 * 1024 * 1024,
  })
  expect((await folder.load(["config.yaml", "more.yaml"])).config.images).toEqual({
    dir: join(folder.dir, "pics"),
    keep: 3_600_000,
    base_url: "https://eva.test",
    max_bytes: 1024 * 1024,
  })
})

test("CFG-062 CFG-063 CFG-064 CFG-065: section chats", async () => {
  expect((await loadText(MINIMAL)).config.chats).toEqual({
    ephemeral_ttl: 86_400_000,
    max_agents: 4,
    problem_folder: "problems",
    quiet_folders: ["youtube", "cron", "code"],
  })
  const { config } = await loadText(
    `${MINIMAL}chats: { ephemeral_ttl: 5m, max_agents: 0, problem_folder: trouble, quiet_folders: ['code*'] }\n`,
  )
  expect(config.chats).toEqual({
    ephemeral_ttl: 300_000,
    max_agents: 0,
    problem_folder: "trouble",
    quiet_folders: ["code*"],
  })
})

test("CFG-104 CFG-105 CFG-106: section tools; tools.d lies beside the configuration", async () => {
  using folder = configFolder({ "config.yaml": MINIMAL })
  expect((await folder.load()).config.tools).toEqual({
    dir: join(folder.dir, "tools.d"),
    on_demand: expect.arrayContaining(["cron", "skill", "think_harder"]),
    ask_ttl: 600_000,
  })
  folder.write("more.yaml", "tools: { dir: /opt/tools, on_demand: [images, web], ask_ttl: 1m }\n")
  expect((await folder.load(["config.yaml", "more.yaml"])).config.tools).toEqual({
    dir: "/opt/tools",
    on_demand: ["images", "web"],
    ask_ttl: 60_000,
  })
})

test("CFG-124 CFG-125: persona.file and master.aliases; no persona and no alias by default", async () => {
  const { config } = await loadText(MINIMAL)
  expect(config.persona).toEqual({})
  expect(config.master).toEqual({ aliases: [] })
  const set = await loadText(
    `${MINIMAL}persona: { file: /etc/eva.md }\nmaster: { aliases: ['telegram:1'], timezone: Asia/Tokyo }\n`,
  )
  expect(set.config.persona.file).toBe("/etc/eva.md")
  expect(set.config.master).toEqual({ aliases: ["telegram:1"], timezone: "Asia/Tokyo" })
})

test("budget, log and secrets have their defaults and can be set", async () => {
  const { config } = await loadText(MINIMAL)
  expect(config.budget).toEqual({ allow_unpriced: false })
  expect(config.log).toEqual({ level: "info", format: "auto" })
  expect(config.secrets).toEqual({ builtin: true, rules: [] })
  const set = await loadText(
    `${MINIMAL}budget: { day: 5, month: 50.5, chat: 1, job: 0, agent: 2, allow_unpriced: true }\nsecrets: { builtin: false, rules: [{ name: ticket, pattern: 'T-\\d+' }] }\n`,
  )
  expect(set.config.budget).toMatchObject({ day: 5, month: 50.5, job: 0, allow_unpriced: true })
  expect(set.config.secrets.rules).toEqual([{ name: "ticket", pattern: "T-\\d+" }])
  const error = await configError(
    loadText(`${MINIMAL}secrets: { rules: [{ name: a, pattern: '(' }] }\n`),
  )
  expect(error.path).toBe("secrets.rules[0].pattern")
})

test("CFG-048 CFG-049 CFG-050 CFG-051 CFG-052 CFG-053 CFG-054 CFG-055 CFG-056: what a prompt shows of history has its defaults and can be set", async () => {
  const { context } = (await loadText(MINIMAL)).config
  expect(context).toMatchObject({
    turn_squeeze_percent: 50,
    tool_result_keep: 6,
    tool_result_keep_chars: 24_000,
    tool_result_max_chars: 2000,
    reader_result_max_chars: 8000,
    past_tool_traffic: "stub",
    client_context_chars: 32_000,
    telegram: { past_tool_traffic: "drop", history_limit: 30 },
  })
  const set = await loadText(
    `${MINIMAL}\ncontext: { tool_result_keep: 2, past_tool_traffic: keep, telegram: { history_limit: 0 } }\n`,
  )
  expect(set.config.context).toMatchObject({
    tool_result_keep: 2,
    past_tool_traffic: "keep",
    telegram: { history_limit: 0 },
  })
  const wrong = loadText(`${MINIMAL}\ncontext: { past_tool_traffic: forget }\n`)
  expect((await configError(wrong)).path).toBe("context.past_tool_traffic")
})
