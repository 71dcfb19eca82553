/** Where the number of tokens comes from, for each kind of server that init knows. */
import { expect, test } from "bun:test"
import { listModels, loadedWindow } from "../../../src/cli/init/model-server.ts"
import { localServer } from "./local-server.ts"

test("vLLM and OpenRouter say in the list what a model holds; embedders are no models to talk to", async () => {
  using server = localServer({
    models: [
      { id: "nomic-embed-text" },
      { id: "qwen3", max_model_len: 40_960 },
      { id: "far/away", context_length: 131_072 },
      { id: "silent" },
    ],
  })
  expect(await listModels(server.baseUrl)).toEqual([
    { name: "qwen3", contextWindow: 40_960 },
    { name: "far/away", contextWindow: 131_072 },
    { name: "silent" },
  ])
})

test.each<[string, Record<string, unknown>, number | undefined]>([
  ["llama-server", { "/props": { default_generation_settings: { n_ctx: 8192 } } }, 8192],
  [
    "Ollama",
    {
      "/api/ps": {
        models: [
          { name: "other:latest", context_length: 1 },
          { name: "m:latest", context_length: 4096 },
        ],
      },
    },
    4096,
  ],
  [
    "LM Studio",
    { "/api/v0/models/m": { id: "m", max_context_length: 131_072, loaded_context_length: 16_384 } },
    16_384,
  ],
  [
    "LM Studio with the model not loaded",
    { "/api/v0/models/m": { id: "m", max_context_length: 131_072 } },
    undefined,
  ],
  ["a server that says nothing", {}, undefined],
  ["a server that says nonsense", { "/props": "no", "/api/ps": { models: [7] } }, undefined],
])("%s: the window is what the loaded model was given", async (_name, pages, tokens) => {
  using server = localServer({ models: [{ id: "m" }], pages })
  expect(await loadedWindow(server, "m")).toBe(tokens)
})

test("a list is asked for with the key, and nobody at home is no error", async () => {
  using server = localServer({ models: [{ id: "m" }], key: "k" })
  expect(await listModels(server.baseUrl)).toBeUndefined()
  expect(await listModels(server.baseUrl, "k")).toEqual([{ name: "m" }])
  expect(await listModels("http://127.0.0.1:1/v1")).toBeUndefined()
})
