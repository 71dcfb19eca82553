/** Texts as vectors: what compares them by meaning. */

export interface Embedder {
  /** Vectors of two models are never compared, whatever their length. */
  readonly model: string
  /** One vector for each text, in their order. Rejects when the upstream cannot. */
  embed(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]>
}
