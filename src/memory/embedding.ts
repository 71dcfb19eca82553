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
import type { UnembeddedRow, VectorTable } from "./store/vector-table.ts"

const BATCH = 64
/** What is embedded of a long text. */
const TEXT_MAX_CHARS = 8000
/** A turn waits no longer for the vector of its question. */
const QUESTION_MAX_MS = 3000
const BATCH_MAX_MS = 60_000
/** After a failure, and twice as long after each that follows. */
const FIRST_PAUSE_MS = 60_000
const LAST_PAUSE_MS = 3600_000
/** So many ids are looked through at once: a few milliseconds. */
const SWEEP_STEP = 1000
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
  /** Looks through all records for those without a vector, in the background. */
  sweep(): void
  /** These may lack a vector. */
  fill(ids: Iterable<number>): void
  /** Settles when no record waits. */
  settled(): Promise<void>
  stop(): void
}

export function createEmbedding(options: EmbeddingOptions): Embedding {
  const { embedder } = options
  const stopped = new AbortController()
  const questions = new Map<string, Float32Array>()
  const waiting = new Waiting(options.vectors, embedder.model)
  let running: Promise<void> | undefined

  const start = (): void => {
    running ??= fillAll(options, waiting, stopped.signal).finally(() => {
      running = undefined
    })
  }
  return {
    model: embedder.model,
    question: (text) => askQuestion(options, { text, questions, stopped: stopped.signal }),
    sweep: () => {
      waiting.all()
      start()
    },
    fill: (ids) => {
      waiting.add(ids)
      start()
    },
    settled: () => running ?? Promise.resolve(),
    stop: () => stopped.abort(),
  }
}

async function askQuestion(
  { embedder, log }: EmbeddingOptions,
  asked: { text: string; questions: Map<string, Float32Array>; stopped: AbortSignal },
): Promise<Float32Array | undefined> {
  const { questions, stopped } = asked
  const text = head(asked.text, TEXT_MAX_CHARS)
  const known = questions.get(text)
  if (known) return known
  try {
    const signal = AbortSignal.any([stopped, AbortSignal.timeout(QUESTION_MAX_MS)])
    const [values] = await embedder.embed([text], signal)
    const unit = values && toUnit(values)
    if (unit) remember(questions, text, unit)
    return unit
  } catch (error) {
    log.debug("a question is answered by its words alone", { error: errorText(error) })
    return undefined
  }
}

function remember(questions: Map<string, Float32Array>, text: string, unit: Float32Array): void {
  questions.set(text, unit)
  const [oldest] = questions.keys()
  if (questions.size > QUESTIONS_KEPT && oldest !== undefined) questions.delete(oldest)
}

/** Which records to look at: those named, and what is left of a look through all. */
class Waiting {
  readonly #vectors: VectorTable
  readonly #model: string
  readonly #ids = new Set<number>()
  #swept = Number.POSITIVE_INFINITY

  constructor(vectors: VectorTable, model: string) {
    this.#vectors = vectors
    this.#model = model
  }

  all(): void {
    this.#swept = 0
  }

  add(ids: Iterable<number>): void {
    for (const id of ids) this.#ids.add(id)
  }

  /** Some records without a vector; undefined when none is left. May find nothing in one step. */
  next(): UnembeddedRow[] | undefined {
    const named = [...this.#ids].slice(0, BATCH)
    if (named.length > 0) {
      for (const id of named) this.#ids.delete(id)
      return named.flatMap((id) => this.#vectors.missing(this.#model, { after: id - 1, upTo: id }))
    }
    if (this.#swept >= this.#vectors.lastId()) return undefined
    const upTo = this.#swept + SWEEP_STEP
    const rows = this.#vectors.missing(this.#model, { after: this.#swept, upTo })
    this.#swept = upTo
    for (const { id } of rows.slice(BATCH)) this.#ids.add(id)
    return rows.slice(0, BATCH)
  }
}

async function fillAll(
  options: EmbeddingOptions,
  waiting: Waiting,
  stopped: AbortSignal,
): Promise<void> {
  let pauseMs = FIRST_PAUSE_MS
  // What is asked for in one moment goes out together.
  await nextTick()
  for (let rows = waiting.next(); rows && !stopped.aborted; rows = waiting.next()) {
    if (rows.length === 0) {
      await nextTick()
      continue
    }
    try {
      await fillBatch(options, rows, stopped)
      pauseMs = FIRST_PAUSE_MS
    } catch (error) {
      if (stopped.aborted) return
      options.log.warn("memories stay without vectors for now", { error: errorText(error) })
      waiting.add(rows.map(({ id }) => id))
      await sleep(pauseMs, stopped)
      pauseMs = Math.min(pauseMs * 2, LAST_PAUSE_MS)
    }
  }
}

const nextTick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Throws when the upstream cannot. */
async function fillBatch(
  { embedder, vectors, write, changed }: EmbeddingOptions,
  rows: readonly UnembeddedRow[],
  stopped: AbortSignal,
): Promise<void> {
  const { model } = embedder
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
}
