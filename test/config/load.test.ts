import { expect, test } from "bun:test"
import { join } from "node:path"
import { configError, configFolder, loadText, MINIMAL } from "./support.ts"

test("BOOT-004 BOOT-005: YAML, TOML and JSON files merge deeply in the order given", async () => {
  using folder = configFolder({
    "base.yaml":
      "server: { listen: '127.0.0.1:1', hosts: [a.test, b.test] }\ndb: { path: eva.db }\nllm: { provider: mock, max_tokens: 10, retry: { attempts: 2 } }\n",
    "middle.toml":
      '[server]\nlisten = "127.0.0.1:2"\nhosts = ["c.test"]\n[llm.retry]\nbudget = "1m"\n',
    "last.json": '{"server": {"listen": "127.0.0.1:3"}, "llm": {"temperature": 0.5}}',
  })
  const { config, sources } = await folder.load(["base.yaml", "middle.toml", "last.json"])
  expect(config.server.listen).toBe("127.0.0.1:3")
  expect(config.server.hosts).toEqual(["c.test"])
  expect(config.llm.max_tokens).toBe(10)
  expect(config.llm.retry).toMatchObject({ attempts: 2, budget: 60_000 })
  expect(config.llm.temperature).toBe(0.5)
  expect(sources).toEqual(["base.yaml", "middle.toml", "last.json"])

  const turned = await folder.load(["last.json", "middle.toml", "base.yaml"])
  expect(turned.config.server.listen).toBe("127.0.0.1:1")
})

test("BOOT-008: each required section that is absent is named, and no other section is required", async () => {
  const error = await configError(loadText("db: { path: eva.db }\nimages: {}\n"))
  expect(error.path).toBe("server")
  expect(error.message.split("\n").map((line) => line.split(":")[0])).toEqual(["server", "llm"])
  expect((await configError(loadText("server:\nllm: { provider: mock }"))).path).toBe("db")
  expect((await loadText(MINIMAL)).config.chats.max_agents).toBe(4)
})

test("BOOT-009: durations are written as humantime and resolve to milliseconds", async () => {
  const { config } = await loadText(
    `${MINIMAL}images: { keep: 7days }\nchats: { ephemeral_ttl: 1h 30m }\ntools: { ask_ttl: 5s }\n`,
  )
  expect(config.images.keep).toBe(7 * 86_400_000)
  expect(config.chats.ephemeral_ttl).toBe(5_400_000)
  expect(config.tools.ask_ttl).toBe(5000)
  const error = await configError(loadText(MINIMAL.replace("{}", "{ drain: 120 }")))
  expect(error.message).toContain('120 seconds are "120s"')
})

test("relative paths start at the file that holds them, and ~ is the home directory", async () => {
  using folder = configFolder({ "config.yaml": `${MINIMAL}persona: { file: persona.md }\n` })
  using other = configFolder({
    "more.yaml": "images: { dir: pictures }\ntools: { dir: ~/tools }\n",
  })
  const { config } = await folder.load(["config.yaml", join(other.dir, "more.yaml")], {
    HOME: "/home/eva",
  })
  expect(config.db.path).toBe(join(folder.dir, "eva.db"))
  expect(config.persona.file).toBe(join(folder.dir, "persona.md"))
  expect(config.images.dir).toBe(join(other.dir, "pictures"))
  expect(config.tools.dir).toBe("/home/eva/tools")
})

test("an unknown key stops the start and names the nearest known one, with its file", async () => {
  using folder = configFolder({
    "config.yaml": MINIMAL,
    "typo.yaml": "server: { lisen: '127.0.0.1:1' }",
  })
  const error = await configError(folder.load(["config.yaml", "typo.yaml"]))
  expect(error.path).toBe("server.lisen")
  expect(error.message).toBe("server.lisen: there is no such key; did you mean listen? (typo.yaml)")
  expect((await configError(loadText(`${MINIMAL}ask_ttl: 5s\n`))).message).toContain(
    "did you mean tools.ask_ttl?",
  )
  expect((await configError(loadText(`${MINIMAL}sever: {}\n`))).message).toContain(
    "did you mean server?",
  )
  expect((await configError(loadText(`${MINIMAL}zzzzzzzzz: 1\n`))).message).toContain(
    "known here: server",
  )
})

test("all problems come at once, a line each, with what would be right", async () => {
  const error = await configError(
    loadText(
      `server: { listen: here, drain: soon, cors: ['https://a.test/x'] }\ndb: { path: '' }\nllm: { provider: opena, max_tokens: many, models: [{ nane: a }], reasoning: deep }\nmaster: { timezone: Mars/Base }\n`,
    ),
  )
  expect(error.message.split("\n").map((line) => line.replace(/ \(config.yaml\)$/, ""))).toEqual([
    'server.listen: expected ADDRESS:PORT, such as "127.0.0.1:8090" or "[::1]:8090"',
    'server.drain: expected a duration such as "5s", "1m" or "1h 30m"',
    "server.cors[0]: expected an origin without a path, such as https://eva.example.org",
    "llm.models[0].nane: there is no such key; did you mean name?",
    "master.timezone: expected an IANA time zone such as Europe/Berlin",
    'db.path: expected a path, found ""',
    'llm.provider: expected one of anthropic, openai, mock, venice, found "opena"',
    'llm.reasoning: expected one of off, low, mid, high, found "deep"',
    'llm.max_tokens: expected a whole number of at least 1, found "many"',
    "llm.model.general: is required: The model of ordinary turns.",
    "llm.models[0].name: is required: The name that the upstream knows the model by.",
  ])
})

test("a secret of the wrong type is not shown in the error", async () => {
  const error = await configError(loadText(MINIMAL.replace("{}", "{ token: 1234567890 }")))
  expect(error.message).toContain("server.token: expected text; put it in quotes")
  expect(error.message).not.toContain("1234567890")
})

test("a file that is missing, of an unknown kind or broken is named", async () => {
  using folder = configFolder({
    "config.ini": "",
    "broken.yaml": "server: {\n",
    "broken.json": "{",
    "broken.toml": "[server\n",
    "list.yaml": "- server",
    "twice.yaml": "db: { path: a }\ndb: { path: b }\n",
  })
  const message = async (name: string) => (await configError(folder.load([name]))).message
  expect(await message("none.yaml")).toBe(
    "cannot read the configuration file none.yaml: there is no such file",
  )
  expect(await message("config.ini")).toContain("must be .yaml, .yml, .toml or .json")
  for (const name of ["broken.yaml", "broken.json", "broken.toml", "list.yaml", "twice.yaml"]) {
    expect(await message(name)).toStartWith(`${name}: `)
  }
})

test("a key left blank means its default, also when a later file blanks it", async () => {
  using folder = configFolder({
    "config.yaml": `${MINIMAL.replace("server: {}", "server:\n  listen:")}chats: { max_agents: 9 }\nimages:\n`,
    "later.yaml": "chats: { max_agents: }\n",
  })
  const { config } = await folder.load(["config.yaml", "later.yaml"])
  expect(config.server.listen).toBe("127.0.0.1:8090")
  expect(config.chats.max_agents).toBe(4)
  expect(config.images.dir).toBe(join(folder.dir, "images"))
})

test("keys such as __proto__ are ordinary unknown keys", async () => {
  using folder = configFolder({
    "config.yaml": MINIMAL,
    "evil.json": '{"__proto__": {"server": {}}, "llm": {"constructor": 1}}',
  })
  const error = await configError(folder.load(["config.yaml", "evil.json"]))
  expect(error.message).toContain("__proto__: there is no such key")
  expect(error.message).toContain("llm.constructor: there is no such key")
})

test("a section of a later version loads with one warning", async () => {
  const { warnings } = await loadText(
    `${MINIMAL}chat_sleep: { enabled: true }\ncron: { enabled: true }\n`,
  )
  expect(warnings.filter((warning) => warning.startsWith("section"))).toEqual([
    "section chat_sleep is not built yet and has no effect",
    "section cron is not built yet and has no effect",
  ])
})

test("SEC-18: secrets come from files of their own, merged into the settings around them", async () => {
  using folder = configFolder({
    "config.yaml":
      "server: {}\ndb: { path: eva.db }\nllm: { provider: anthropic, model: { general: m }, models: [{ name: m }], providers: { router: { provider: openai, base_url: 'https://router.test/v1' } } }\n",
    "secrets.toml":
      '[llm]\napi_key = "main-key-123"\n[llm.providers.router]\napi_key = "router-key-123"\n',
  })
  const { config } = await folder.load(["config.yaml", "secrets.toml"])
  expect(config.llm.api_key).toBe("main-key-123")
  expect(config.llm.provider).toBe("anthropic")
  expect(config.llm.providers.router).toMatchObject({
    api_key: "router-key-123",
    base_url: "https://router.test/v1",
  })
})
