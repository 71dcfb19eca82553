/** The memory room with its settings, and the embedder of the main provider when one is wanted. */
import type { Config } from "../config/schema.ts"
import type { Clock } from "../lib/clock.ts"
import type { Log } from "../lib/log.ts"
import type { Embedder } from "../llm/embedder.ts"
import { createMockEmbedder } from "../llm/mock-embedder.ts"
import { createOpenAiEmbedder } from "../llm/openai-embedder.ts"
import { createMemories, type Memories } from "../memory/memories.ts"
import type { Store } from "../store/open.ts"

export interface MemoryParts {
  config: Config
  store: Store
  clock: Clock
  log: Log
  /** In the transaction that erases a record. */
  erased(id: number): void
}

export function createMemory({ config, store, clock, log, erased }: MemoryParts): Memories {
  const { memory } = config
  return createMemories({
    ...{ store, clock, log, erased },
    embedder: embedderOf(config, log),
    settings: {
      topK: memory.top_k,
      publicTopK: memory.public_top_k,
      promptBudget: memory.prompt_budget,
      recallFloor: memory.recall_floor,
      halfLifeMs: memory.half_life,
    },
  })
}

/** The main provider serves it, whether the model is listed or not. */
function embedderOf({ llm, memory }: Config, log: Log): Embedder | undefined {
  const model = memory.embedding_model
  if (model === undefined) return undefined
  switch (llm.provider) {
    case "openai":
      return createOpenAiEmbedder({
        model,
        ...(llm.api_key !== undefined && { apiKey: llm.api_key }),
        ...(llm.base_url !== undefined && { baseUrl: llm.base_url }),
        ...(llm.proxy !== undefined && { proxy: llm.proxy }),
        firstTokenTimeoutMs: llm.first_token_timeout,
        silenceTimeoutMs: llm.silence_timeout,
      })
    case "mock":
      return createMockEmbedder(model)
    default:
      log.warn("memory.embedding_model has no effect: the main provider has no embeddings", {
        provider: llm.provider,
      })
      return undefined
  }
}
