/**
 * Vectors of records and of questions. All of it is a help and none of it a need: what cannot be embedded is
 * found by its words.
 */
import { sleep } from "../lib/async.ts"
import { errorText } from "../lib/error.ts"
import type { Log } from "../lib/log.ts"
import { head } from "../lib/text.ts"
import type { Embedder } from "../llm/embedder.ts"
import { toUnit } from "./signs.ts"
import type { VectorTable } from "./store/vector-table.ts"

const BATCH = 64
/** What is embedded of a long text. */
const TEXT_MAX_CHARS = 8000
/** A turn waits no longer for the vector of its question. */
const QUESTION_MAX_MS = 3000
const BATCH_MAX_MS = 60_000
const PAUSE_AFTER_FAILURE_MS = 60_000
/** Questions are asked again within a turn and by people who look at the prompt. */
const QUESTIONS_KEPT = 32

export interface EmbeddingOptions {
  embedder: Embedder
  vectors: VectorTable
  write(work: () => void): void
  log: Log
  /** Told after these got a vector. */
  changed(ids: number[]): void
}

export interface Embedding {
  readonly model: string
  /** Undefined when there is no vector in time. */
  question(text: string): Promise<Float32Array | undefined>
  /** Records may lack a vector: fills them in the background. */
  fill(): void
  /** Settles when nothing is being filled. */
  settled(): Promise<void>
  stop(): void
}

export function createEmbedding(options: EmbeddingOptions): Embedding {
  const { embedder, log } = options
  const stopped = new AbortController()
  const questions = new Map<string, Float32Array>()
  let running: Promise<void> | undefined
  let again = false

  const run = async (): Promise<void> => {
    do {
      again = false
      try {
        while (!stopped.signal.aborted && (await fillBatch(options, stopped.signal)) > 0);
      } catch (error) {
        log.warn("memories stay without vectors for now", { error: errorText(error) })
        await sleep(PAUSE_AFTER_FAILURE_MS, stopped.signal)
      }
    } while (again && !stopped.signal.aborted)
    running = undefined
  }

  return {
    model: embedder.model,
    question: async (text) => {
      const asked = head(text, TEXT_MAX_CHARS)
      const known = questions.get(asked)
      if (known) return known
      try {
        const signal = AbortSignal.any([stopped.signal, AbortSignal.timeout(QUESTION_MAX_MS)])
        const [values] = await embedder.embed([asked], signal)
        const unit = values && toUnit(values)
        if (unit) remember(questions, asked, unit)
        return unit
      } catch (error) {
        log.debug("a question is answered by its words alone", { error: errorText(error) })
        return undefined
      }
    },
    fill: () => {
      again = true
      // A pause after a failure is not cut short: the next batch takes what came meanwhile.
      running ??= run()
    },
    settled: () => running ?? Promise.resolve(),
    stop: () => stopped.abort(),
  }
}

function remember(questions: Map<string, Float32Array>, text: string, unit: Float32Array): void {
  questions.set(text, unit)
  const [oldest] = questions.keys()
  if (questions.size > QUESTIONS_KEPT && oldest !== undefined) questions.delete(oldest)
}

/** How many records got a vector. Throws when the upstream cannot. */
async function fillBatch(options: EmbeddingOptions, stopped: AbortSignal): Promise<number> {
  const { embedder, vectors, write, changed } = options
  const { model } = embedder
  const rows = vectors.missing(model, BATCH)
  if (rows.length === 0) return 0
  const signal = AbortSignal.any([stopped, AbortSignal.timeout(BATCH_MAX_MS)])
  const values = await embedder.embed(
    rows.map(({ content }) => head(content, TEXT_MAX_CHARS)),
    signal,
  )
  const filled: number[] = []
  write(() => {
    for (const [index, { id, content }] of rows.entries()) {
      const unit = values[index] && toUnit(values[index])
      if (unit && vectors.put({ id, content, model, unit })) filled.push(id)
    }
  })
  changed(filled)
  // All of them had changed or have no direction: asking for the same again would never end.
  return filled.length
}
