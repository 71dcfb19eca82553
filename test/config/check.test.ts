import { expect, test } from "bun:test"
import { configError, loadText, MINIMAL } from "./support.ts"

const withLlm = (llm: string, rest = ""): string =>
  `server: {}\ndb: { path: eva.db }\nllm: { provider: openai, base_url: 'http://upstream.test/v1', ${llm} }\n${rest}`

const MODELS = "models: [{ name: good-model }, { name: other-model }]"

test("BOOT-013 CTX-87: every place that names a model must name an entry of llm.models", async () => {
  const places: [path: string, llm: string][] = [
    ["llm.model.general", "model: { general: god-model }"],
    ["llm.model.fastest", "model: { general: good-model, fastest: god-model }"],
    ["llm.model.smartest", "model: { general: good-model, smartest: god-model }"],
    ["llm.model.advisor", "model: { general: good-model, advisor: god-model }"],
    ["llm.model.fallback[1]", "model: { general: good-model, fallback: [other-model, god-model] }"],
    ["llm.code_model", "model: { general: good-model }, code_model: god-model"],
    ["llm.image_model", "model: { general: good-model }, image_model: god-model"],
    ["llm.summary_model", "model: { general: good-model }, summary_model: god-model"],
  ]
  for (const [path, llm] of places) {
    const error = await configError(loadText(withLlm(`${llm}, ${MODELS}`)))
    expect(error.path).toBe(path)
    expect(error.message).toBe(
      `${path}: god-model is not in llm.models; did you mean good-model? (config.yaml)`,
    )
  }
})

test("CFG-099: notes.model must name an entry of llm.models, too", async () => {
  const llm = withLlm(`model: { general: good-model }, ${MODELS}`, "notes: { model: god-model }\n")
  const error = await configError(loadText(llm))
  expect(error.path).toBe("notes.model")
  expect(error.message).toContain("did you mean good-model?")
})

test("CFG-102: a notebook must not be rebuilt to a size at which it would be rebuilt again", async () => {
  const wrong: [path: string, notes: string][] = [
    ["notes.compact_target_chars", "compact_at_chars: 3000"],
    ["notes.max_notes", "compact_at_notes: 10"],
  ]
  for (const [path, notes] of wrong) {
    const error = await configError(loadText(`${MINIMAL}\nnotes: { ${notes} }\n`))
    expect(error.path).toBe(path)
    expect(error.message).toContain(`is more than ${notes.split(":")[0]!.replace(/^/, "notes.")}`)
  }
})

test("an empty llm.models checks no names and says so", async () => {
  const { config, warnings } = await loadText(withLlm("model: { general: anything }"))
  expect(config.llm.model.general).toBe("anything")
  expect(warnings).toEqual([
    "llm.models is empty: names of models are not checked, and clients have no menu of them",
  ])
})

test("BOOT-014 CTX-88: llm.image_model must name an entry that draws", async () => {
  const error = await configError(
    loadText(withLlm(`model: { general: good-model }, image_model: other-model, ${MODELS}`)),
  )
  expect(error.path).toBe("llm.image_model")
  expect(error.message).toContain("needs image_output: true")
})

test("BOOT-015 CTX-89: memory.embedding_model need not be listed", async () => {
  const { config } = await loadText(
    withLlm(`model: { general: good-model }, ${MODELS}`, "memory: { embedding_model: embed-3 }\n"),
  )
  expect(config.llm.models.map((model) => model.name)).toEqual(["good-model", "other-model"])
})

test("BOOT-016 CTX-88: a model's upstream must be in llm.providers", async () => {
  const error = await configError(
    loadText(
      withLlm(
        "model: { general: m }, models: [{ name: m }, { name: n, provider: ruter }], providers: { router: { provider: mock } }",
      ),
    ),
  )
  expect(error.path).toBe("llm.models[1].provider")
  expect(error.message).toContain("ruter is not in llm.providers; did you mean router?")
})

test("BOOT-019: llm.model as plain text is refused with the form that is right", async () => {
  const error = await configError(loadText(withLlm("model: gpt")))
  expect(error.message).toBe(
    'llm.model: expected a mapping, found "gpt"; write the mapping model: { general: NAME } (config.yaml)',
  )
})

test("listening beyond this machine needs a token or a proxy that checks", async () => {
  const server = (lines: string) => loadText(MINIMAL.replace("{}", `{ ${lines} }`))
  for (const listen of ["0.0.0.0:8080", "[::]:8080", "192.168.1.2:80", "eva.test:80"]) {
    expect((await configError(server(`listen: '${listen}'`))).path).toBe("server.listen")
  }
  for (const listen of ["127.0.0.1:0", "127.9.9.9:1", "[::1]:1", "localhost:1"]) {
    expect((await server(`listen: '${listen}'`)).config.server.listen).toBe(listen)
  }
  await server("listen: '0.0.0.0:8080', token: abc")
  await server("listen: '0.0.0.0:8080', trust_proxy: true")
})

test("a key from the environment goes to the host it was made for and to no other", async () => {
  const environment = {
    OPENAI_API_KEY: "openai-key",
    OPENROUTER_API_KEY: "router-key",
    ANTHROPIC_API_KEY: "anthropic-key",
  }
  const { config } = await loadText(
    `server: {}\ndb: { path: eva.db }\nllm:\n  provider: openai\n  model: { general: m }\n  models: [{ name: m }]\n  providers:\n    router: { provider: openai, base_url: 'https://openrouter.ai/api/v1' }\n    trap: { provider: openai, base_url: 'https://openrouter.ai.evil.test/v1' }\n    claude: { provider: anthropic }\n    own: { provider: anthropic, api_key: mine }\n`,
    environment,
  )
  expect(config.llm.api_key).toBe("openai-key")
  const { router, trap, claude, own } = config.llm.providers
  expect([router, trap, claude, own].map((upstream) => upstream?.api_key)).toEqual([
    "router-key",
    undefined,
    "anthropic-key",
    "mine",
  ])
})

test("a hosted upstream without a key is warned about", async () => {
  const { warnings } = await loadText(
    "server: {}\ndb: { path: eva.db }\nllm: { provider: anthropic, model: { general: m }, models: [{ name: m }] }\n",
  )
  expect(warnings).toEqual([
    "llm.api_key is not set, and neither is ANTHROPIC_API_KEY: calls will be refused",
  ])
})
