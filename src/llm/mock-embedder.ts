/**
 * Embeddings without a model, for the provider `mock`: each word adds a direction of its own, so texts with
 * common words are close. It shows that the way works, not how well a real model finds.
 */
import { stems } from "../lib/stems.ts"
import type { Embedder } from "./embedder.ts"

const DIMENSIONS = 64

export const createMockEmbedder = (model: string): Embedder => ({
  model,
  embed: async (texts) => texts.map((text) => vectorOf(text, model)),
})

/** Another model gives the same words other directions. */
function vectorOf(text: string, model: string): Float32Array {
  const vector = new Float32Array(DIMENSIONS)
  for (const word of stems(text)) {
    let state = Bun.hash.xxHash32(`${model} ${word}`)
    for (let i = 0; i < DIMENSIONS; i++) {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0
      vector[i]! += state / 2 ** 31 - 1
    }
  }
  return vector
}
