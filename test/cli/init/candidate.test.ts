import { expect, test } from "bun:test"
import { findCandidates } from "../../../src/cli/init/candidate.ts"
import { configText } from "../../../src/cli/init/config-text.ts"
import { listModels } from "../../../src/cli/init/model-server.ts"
import { HOSTED_UPSTREAMS, MODEL_SERVERS } from "../../../src/config/default-upstreams.ts"
import { buildFromTexts } from "../../../src/config/edit.ts"
import { localServer } from "./local-server.ts"

test("keys come first, then the servers on their usual ports that have a model to talk to", async () => {
  using server = localServer({ models: [{ id: "qwen3", max_model_len: 40_960 }] })
  const asked: string[] = []
  const found = await findCandidates(
    { OPENAI_API_KEY: " sk-1 ", ANTHROPIC_API_KEY: "" },
    (baseUrl) => {
      asked.push(baseUrl)
      // Its own port is free here: the answer comes from a real server on another one.
      if (baseUrl.includes(":8000")) return listModels(server.baseUrl)
      return baseUrl.includes(":1234") ? Promise.resolve([]) : listModels("http://127.0.0.1:1/v1")
    },
  )
  expect(asked.map((url) => Number(new URL(url).port))).toEqual([11_434, 8080, 1234, 8000])
  expect(found.map(({ name, why, apiKey }) => ({ name, why, apiKey }))).toEqual([
    { name: "OpenAI", why: "OPENAI_API_KEY was set", apiKey: "sk-1" },
    { name: "vLLM", why: "it answered at http://127.0.0.1:8000/v1", apiKey: undefined },
  ])
  expect(found[1]?.models).toEqual([
    { name: "qwen3", price_in: 0, price_out: 0, context_window: 40_960 },
  ])
})

test("every provider and server that can be found gives a configuration that loads", async () => {
  const environment = Object.fromEntries(HOSTED_UPSTREAMS.map(({ variable }) => [variable, "k"]))
  const found = await findCandidates(environment, async () => [{ name: 'a "name": odd' }])
  expect(found).toHaveLength(HOSTED_UPSTREAMS.length + MODEL_SERVERS.length)
  for (const candidate of found) {
    const text = configText(candidate, '/data/o\'dd "place"/eva.db')
    const { config, warnings } = await buildFromTexts([{ path: "/etc/config.yaml", text }], {
      environment,
      cwd: "/",
    })
    const [model] = candidate.models
    expect(config.llm).toMatchObject({ ...candidate.llm, model: { general: model.name } })
    expect(config.llm.models[0]).toMatchObject(model)
    expect(config.db.path).toBe('/data/o\'dd "place"/eva.db')
    expect(warnings).toEqual([])
  }
})
