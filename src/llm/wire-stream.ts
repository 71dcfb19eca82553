/**
 * The owner of one streamed answer, the same for every wire: sends, waits within limits, decodes, ends the
 * stream with exactly one last event. Everything that can go wrong ends here.
 */
import { type Clock, systemClock } from "../lib/clock.ts"
import { isObject, tryParseJson } from "../lib/json.ts"
import type { Usage } from "../schema/usage.ts"
import { createEventSink, type EventSink } from "./event-sink.ts"
import { causes, StreamFailure, thrownFailure, upstreamFailure } from "./failure.ts"
import { createFrameParser } from "./frame-parser.ts"
import type { ProviderEvent, ProviderFailure, StopReason } from "./provider.ts"
import { readRateLimits } from "./rate-limits.ts"
import { readBounded } from "./read-bounded.ts"
import { type UpstreamOptions, UpstreamRefusal } from "./upstream.ts"
import { readErrorValue } from "./upstream-error.ts"
import { createWait, type Wait, WaitInterrupted } from "./wait.ts"

/** `done` is the last frame by protocol; a keep-alive says nothing of the model. */
export type FrameKind = "payload" | "keep-alive" | "done"

/** One wire's reading of one answer. Holds the state between frames. */
export interface WireDecoder {
  /** Reads the JSON value of one frame. Throws StreamFailure when the frame is an error. */
  frame(value: Record<string, unknown>, sink: EventSink): FrameKind
  /** The sentinel `[DONE]` came. */
  done?(): void
  /** After the last byte: what was held back, and why the model stopped; undefined when it never said so. */
  end(sink: EventSink): StopReason | undefined
  /** What the upstream reported so far. */
  usage(): Usage | undefined
}

export interface WireCall {
  send(signal: AbortSignal): Promise<Response>
  decoder: WireDecoder
  options: UpstreamOptions
}

/** Two type libraries disagree on the whole of it. */
interface BodyReader {
  read(): Promise<{ done: boolean; value?: Uint8Array }>
  cancel(): Promise<void>
}

/** Most upstreams close at once after their last frame; waiting for it lets the connection be used again. */
const CLOSE_GRACE_MS = 300
const JSON_BODY_MAX_BYTES = 64 * 1024 * 1024

/** The events of one call. Never throws; the last event is `stop` or `failed`. */
export async function* streamWire(
  call: WireCall,
  signal: AbortSignal,
): AsyncGenerator<ProviderEvent> {
  const clock = call.options.clock ?? systemClock
  const abort = new AbortController()
  const wait = createWait(signal, call.options.firstTokenTimeoutMs, "no answer")
  const sink = createEventSink()
  let reader: BodyReader | undefined
  let last: ProviderEvent
  try {
    const response = await wait.on(call.send(abort.signal))
    yield* rateLimits(response.headers, clock)
    const reading = createReading(call, wait, sink)
    if (isJson(response)) {
      reading.whole(await wait.on(readBounded(response.body, JSON_BODY_MAX_BYTES)))
    } else {
      reader = response.body?.getReader() as BodyReader | undefined
      while (reader && !reading.closed) {
        const chunk = await reading.next(reader)
        if (chunk) reading.feed(chunk)
        for (const event of sink.drain()) yield event
      }
    }
    last = reading.last()
  } catch (thrown) {
    const refusal = causes(thrown).find((cause) => cause instanceof UpstreamRefusal)
    if (refusal) yield* rateLimits(refusal.headers, clock)
    last = { type: "failed", failure: masked(thrownFailure(thrown, clock.now()), call.options) }
  } finally {
    wait.close()
    abort.abort()
    // Cancelling the reader too frees the socket at once, whatever fetch makes of the signal.
    void reader?.cancel().catch(() => {})
  }
  for (const event of sink.drain()) yield event
  const usage = call.decoder.usage()
  if (usage) yield { type: "usage", usage }
  yield last
}

/** The state of reading one body. */
function createReading(call: WireCall, wait: Wait, sink: EventSink) {
  const { decoder, options } = call
  let phase: "first" | "flowing" | "done" | "closed" = "first"

  const read = (data: string): void => {
    if (data === "[DONE]") {
      decoder.done?.()
      finish()
      return
    }
    if (data === "") return
    const parsed = tryParseJson(data)
    if (!parsed || !isObject(parsed.value)) throw new StreamFailure(brokenFrame(data))
    const kind = decoder.frame(parsed.value, sink)
    if (kind === "done") finish()
    if (kind === "payload" && phase !== "done") wait.renew()
  }
  const finish = (): void => {
    phase = "done"
    wait.renew(CLOSE_GRACE_MS)
  }
  const parser = createFrameParser((frame) => read(frame.data))

  return {
    get closed() {
      return phase === "closed"
    },
    /** The next bytes; undefined when there are no more, or none worth waiting for. */
    next: async (reader: BodyReader) => {
      try {
        const { done, value } = await wait.on(reader.read())
        if (!done) return value
      } catch (thrown) {
        const late = thrown instanceof WaitInterrupted && thrown.reason === "stalled"
        if (!(phase === "done" && late)) throw thrown
      }
      parser.end()
      phase = "closed"
      return undefined
    },
    feed: (bytes: Uint8Array): void => {
      parser.feed(bytes)
      if (phase === "first" && sink.filled()) {
        phase = "flowing"
        wait.renew(options.silenceTimeoutMs, "the upstream fell silent")
      }
    },
    /** A body that is one JSON object: an error sent with status 200, or an upstream that does not stream. */
    whole: (body: string): void => read(body.trim()),
    last: (): ProviderEvent => {
      const reason = decoder.end(sink)
      if (reason) return { type: "stop", reason }
      throw new StreamFailure({ class: "transient", message: "the stream ended early" })
    },
  }
}

function* rateLimits(headers: Headers, clock: Clock): Generator<ProviderEvent> {
  const limits = readRateLimits(headers, clock.now())
  if (limits.length > 0) yield { type: "rate_limits", limits }
}

const isJson = (response: Response): boolean =>
  /^application\/(?:[\w.+-]*\+)?json\b/i.test(response.headers.get("content-type") ?? "")

/** An error object inside a stream, or in an answer of status 200. */
export function throwStreamError(value: unknown): never {
  throw new StreamFailure(upstreamFailure(readErrorValue(value), { now: 0 }))
}

function brokenFrame(data: string): ProviderFailure {
  return {
    class: "transient",
    message: `the stream broke: a frame is no JSON object (${data.length} characters)`,
  }
}

/** Upstreams like to repeat the key that they did not accept. */
function masked(failure: ProviderFailure, { apiKey }: UpstreamOptions): ProviderFailure {
  if (!apiKey || apiKey.length < 6) return failure
  return { ...failure, message: failure.message.replaceAll(apiKey, "[key]") }
}
