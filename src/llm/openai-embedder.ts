/** Embeddings over the OpenAI wire: `POST /embeddings` of any server that knows it. */
import type { Embedder } from "./embedder.ts"
import { createOpenAiClient } from "./openai-client.ts"
import type { UpstreamOptions } from "./upstream.ts"

export interface OpenAiEmbedderOptions extends UpstreamOptions {
  model: string
  /** Told what each request consumed. */
  onUsage?: (promptTokens: number) => void
}

export function createOpenAiEmbedder(options: OpenAiEmbedderOptions): Embedder {
  const { model, onUsage } = options
  const client = createOpenAiClient(options)
  return {
    model,
    embed: async (texts, signal) => {
      // Asked for by name: some servers answer numbers whatever they are asked.
      const request = { model, input: [...texts], encoding_format: "float" as const }
      const { data, usage } = await client.embeddings(request, signal)
      const vectors = new Map(data.map(({ index, embedding }) => [index, embedding]))
      const tokens = usage?.prompt_tokens ?? 0
      if (tokens > 0) onUsage?.(tokens)
      return texts.map((_, index) => {
        const values = vectors.get(index)
        if (!values) throw new Error(`the upstream gave no vector for text ${index + 1}`)
        return Float32Array.from(values)
      })
    },
  }
}
