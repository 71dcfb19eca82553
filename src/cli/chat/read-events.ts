/** Reads a stream of server-sent events to its end, and notices when it has gone silent. */
import { isObject, tryParseJson } from "../../lib/json.ts"
import { createFrameParser } from "../../llm/frame-parser.ts"
import type { Item } from "../../schema/item.ts"
import type { PlanTask } from "../../schema/plan.ts"
import { ClientError } from "./client-error.ts"

/** The kernel sends a sign of life every five seconds. */
export const SILENCE_MS = 16_000

/** An event as a client meets it: which fields are there, `type` decides. Unknown types are skipped. */
export interface WireEvent {
  type: string
  seq?: number
  chat_id?: string
  turn_id?: string
  replayed?: boolean
  [field: string]: unknown
}

/** The events that draw; the fields are the schema's. */
export type ItemEvent =
  | { type: "item_started" | "item_completed"; item: Item }
  | {
      type: "item_delta"
      id: string
      delta: { text?: string; progress?: string; tasks?: PlanTask[] }
    }

export interface ReadOptions {
  /** The event, and the text it was read from. Called synchronously for all that came in one piece. */
  onEvent: (event: WireEvent, line: string) => void
  signal: AbortSignal
  silenceMs?: number | undefined
}

/**
 * Resolves when the kernel ended the stream or the signal fired. Throws ClientError("unreachable") when
 * the stream broke or nothing, not even a heartbeat, came for `silenceMs`.
 */
export async function readEvents(response: Response, options: ReadOptions): Promise<void> {
  const { onEvent, signal, silenceMs = SILENCE_MS } = options
  if (!response.body) return
  const parser = createFrameParser(({ data }) => {
    const event = tryParseJson(data)?.value
    if (isWireEvent(event)) onEvent(event, data)
  })
  const reader = response.body.getReader()
  const stop = () => void reader.cancel().catch(() => undefined)
  signal.addEventListener("abort", stop, { once: true })
  try {
    while (!signal.aborted) {
      const { done, value } = await orSilence(reader.read(), silenceMs)
      if (done) return
      parser.feed(value)
    }
  } catch (error) {
    if (signal.aborted) return
    throw error instanceof ClientError
      ? error
      : new ClientError("unreachable", "the connection to the kernel broke", { cause: error })
  } finally {
    signal.removeEventListener("abort", stop)
    stop()
  }
}

/** The read goes on after the limit, so whoever hears of the silence must cancel the reader. */
async function orSilence<T>(read: Promise<T>, silenceMs: number): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    const seconds = Math.round(silenceMs / 1000)
    reject(new ClientError("unreachable", `the kernel has been silent for ${seconds} s`))
  }, silenceMs)
  try {
    return await Promise.race([read, promise])
  } finally {
    clearTimeout(timer)
  }
}

const isWireEvent = (value: unknown): value is WireEvent =>
  isObject(value) && typeof value.type === "string"
