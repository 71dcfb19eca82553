import { expect, test } from "bun:test"
import { join } from "node:path"
import { configError, configFolder, loadText, MINIMAL } from "./support.ts"

test("BOOT-006 BOOT-007: EVA_ variables with __ override every file", async () => {
  const { config, sources } = await loadText(
    "server: { listen: '127.0.0.1:1' }\ndb: { path: eva.db }\nllm: { provider: mock, model: { general: a, fastest: b } }\n",
    { EVA_LLM__MODEL__GENERAL: "moonshotai/kimi-k3", EVA_SERVER__LISTEN: "127.0.0.1:8080" },
  )
  expect(config.llm.model).toMatchObject({ general: "moonshotai/kimi-k3", fastest: "b" })
  expect(config.server.listen).toBe("127.0.0.1:8080")
  expect(sources).toEqual(["config.yaml", "EVA_LLM__MODEL__GENERAL", "EVA_SERVER__LISTEN"])
})

test("the schema says how a variable is read", async () => {
  const { config } = await loadText(MINIMAL, {
    EVA_SERVER__TOKEN: "0123456789",
    EVA_SERVER__TRUST_PROXY: "true",
    EVA_SERVER__DRAIN: "5s",
    EVA_SERVER__HOSTS: "[a.test, b.test]",
    EVA_SERVER__BODY_MAX: "1 MiB",
    EVA_LLM__MAX_TOKENS: "100",
    EVA_LLM__TEMPERATURE: "0.5",
    EVA_LLM__REASONING: "true",
    EVA_LLM__MODELS: "[{ name: mock, multimodal: true }]",
    EVA_BUDGET__DAY: "",
  })
  expect(config.server).toMatchObject({
    token: "0123456789",
    trust_proxy: true,
    drain: 5000,
    hosts: ["a.test", "b.test"],
    body_max: 1024 * 1024,
  })
  expect(config.llm).toMatchObject({ max_tokens: 100, temperature: 0.5, reasoning: "mid" })
  expect(config.llm.models[0]).toMatchObject({ name: "mock", multimodal: true })
  expect(config.budget.day).toBeUndefined()
})

test("names without __ are no settings; names with it must be known keys", async () => {
  const { config } = await loadText(MINIMAL, {
    EVA_COMMIT: "abc",
    EVA_TRACE_DIR: "/x",
    EVA_TOKEN: "t",
    OTHER__THING: "1",
  })
  expect(config.server.token).toBeUndefined()
  const error = await configError(loadText(MINIMAL, { EVA_SERVER__LISTE: "127.0.0.1:1" }))
  expect(error.message).toBe(
    "server.liste: there is no such key; did you mean listen? (EVA_SERVER__LISTE)",
  )
})

test("a name that people chose is found whatever its spelling", async () => {
  using folder = configFolder({
    "config.yaml": `${MINIMAL.replace("mock }", "mock, providers: { My-Box: { provider: openai, base_url: 'http://box.test/v1' } } }")}`,
  })
  const { config } = await folder.load(["config.yaml"], {
    EVA_LLM__PROVIDERS__MY_BOX__API_KEY: "box-key-1234",
    EVA_LLM__PROVIDERS__NEW__PROVIDER: "mock",
  })
  expect(config.llm.providers["My-Box"]?.api_key).toBe("box-key-1234")
  expect(config.llm.providers.new?.provider).toBe("mock")
})

test("a relative path in a variable starts at the working directory", async () => {
  using folder = configFolder({ "config.yaml": MINIMAL })
  const { config } = await folder.load(["config.yaml"], { EVA_DB__PATH: "other.db" })
  expect(config.db.path).toBe(join(folder.dir, "other.db"))
})
