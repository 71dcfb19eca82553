/** Memories of a kernel whose main provider has embeddings, over the real wire. */
import { afterEach, expect, test } from "bun:test"
import { type TestApi, testApi } from "./support.ts"

let api: TestApi | undefined
let upstream: ReturnType<typeof Bun.serve> | undefined
afterEach(async () => {
  await api?.dispose()
  await upstream?.stop(true)
  api = undefined
  upstream = undefined
})

interface Asked {
  path: string
  model: string
  input: string[]
  key: string | null
}

/** An upstream that only embeds: pets one way, everything else another. The order of its answer is odd. */
function startUpstream(): Asked[] {
  const asked: Asked[] = []
  upstream = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request) => {
      const { model, input } = (await request.json()) as { model: string; input: string[] }
      const { pathname } = new URL(request.url)
      asked.push({ path: pathname, model, input, key: request.headers.get("authorization") })
      const data = input.map((text, index) => ({
        ...{ object: "embedding", index },
        embedding: /cat|кошк/i.test(text) ? [1, 0, 0.1] : [0, 1, 0.1],
      }))
      return Response.json({
        ...{ object: "list", model, data: data.reverse() },
        usage: { prompt_tokens: 3, total_tokens: 3 },
      })
    },
  })
  return asked
}

const start = (model: string) =>
  testApi({
    config: {
      memory: { embedding_model: model },
      llm: {
        ...{ provider: "openai", api_key: "sk-test", base_url: `${upstream!.url}v1` },
        ...{ model: { general: "other" }, models: [{ name: "other" }] },
      },
    },
  })

test("MEM-29 CFG-072: the main provider serves the embedding model, which no list of models names", async () => {
  const asked = startUpstream()
  api = await start("tiny-embeddings")
  for (const content of ["Anna has a cat", "Boris sells bread"])
    await api.call("POST /v1/memories", { content, dedup: false })
  await api.kernel.api.memories.embedded()
  const { json } = await api.call(`GET /v1/memories/search?q=${encodeURIComponent("кошка")}`)
  expect(json.memories.map(({ content }: { content: string }) => content)).toEqual([
    "Anna has a cat",
  ])
  expect(json.memories[0].why.closeness).toBeCloseTo(1, 5)
  expect(asked.flatMap(({ input }) => input).sort()).toEqual([
    "Anna has a cat",
    "Boris sells bread",
    "кошка",
  ])
  for (const { path, model, key } of asked) {
    expect([path, model, key]).toEqual(["/v1/embeddings", "tiny-embeddings", "Bearer sk-test"])
  }
})

test("an upstream without embeddings leaves search by words", async () => {
  upstream = Bun.serve({
    ...{ hostname: "127.0.0.1", port: 0 },
    fetch: () => new Response("no such route", { status: 404 }),
  })
  api = await start("tiny-embeddings")
  await api.call("POST /v1/memories", { content: "Anna has a cat" })
  const { json } = await api.call("GET /v1/memories/search?q=cat")
  expect(json.memories[0]).toMatchObject({ content: "Anna has a cat", why: { closeness: null } })
})
