/**
 * Server-sent events out of emissions. Each frame is encoded once however many clients get it, frames of
 * one tick leave in one piece, and a client that does not read is dropped at a limit instead of filling
 * the memory: it can come back and resume.
 */
import type { Emission } from "../events/bus.ts"
import { UNMUTABLE } from "../schema/event.ts"

/** What may wait for a client that reads too slowly, beyond the replay it asked for. */
export const STREAM_QUEUE_BYTES = 1024 * 1024
/** Bun closes a connection that is silent for ten seconds, and proxies have limits of their own. */
const HEARTBEAT_MS = 5_000
/** A client with frames waiting that takes none for so many heartbeats is gone. */
const STALLED_BEATS_MAX = 12
/** Goes to the socket in one piece at most. */
const CHUNK_BYTES = 64 * 1024

const HEADERS = {
  "Content-Type": "text/event-stream; charset=utf-8",
  "Cache-Control": "no-store",
  // Tells nginx to pass pieces on as they come.
  "X-Accel-Buffering": "no",
}

const encoder = new TextEncoder()
const HEARTBEAT = encoder.encode(":\n\n")

/** One client's end of a stream. */
export interface EventStream {
  push(emission: Emission): void
  /** The position that the client asked for is gone: it must read items again. */
  reset(seq: number): void
  /** Where the stream stands before its first event: a browser resumes from here. */
  position(seq: number): void
  /** Sends what waits and closes. */
  end(): void
}

export interface StreamOptions {
  /** Event types that this client does not want; `done` and `error` come anyway. */
  mute?: readonly string[] | undefined
  /** Write `id:` lines, from which a browser resumes by itself. */
  withIds?: boolean
  /** Whose signal tells that the client leaves. */
  request: Request
}

export type Streams = ReturnType<typeof createStreams>

export function createStreams(options: { heartbeatMs?: number; queueBytes?: number } = {}) {
  const { heartbeatMs = HEARTBEAT_MS, queueBytes = STREAM_QUEUE_BYTES } = options
  const clients = new Set<Client>()
  const frames = { plain: createFrames(false), withIds: createFrames(true) }
  let timer: Timer | undefined

  const leave = (client: Client) => {
    clients.delete(client)
    if (clients.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  /**
   * Opens a stream. `attach` gets the client's end, pushes what it already has and returns what detaches
   * it again; that is called once, whoever ends the stream.
   */
  const open = (options: StreamOptions, attach: (stream: EventStream) => () => void): Response => {
    const client = createClient({
      queueBytes,
      mute: new Set(options.mute?.filter((type) => !UNMUTABLE.includes(type))),
      frameOf: options.withIds ? frames.withIds : frames.plain,
      leave: () => leave(client),
    })
    clients.add(client)
    timer ??= setInterval(() => {
      for (const each of clients) each.beat()
    }, heartbeatMs)
    client.attach(attach)
    options.request.signal.addEventListener("abort", client.drop, { once: true })
    if (options.request.method !== "HEAD") return new Response(client.body, { headers: HEADERS })
    // Nobody would ever read the body, and it has no end.
    client.drop()
    return new Response(null, { headers: HEADERS })
  }

  return {
    open,
    /** How many clients listen: a gauge for tests. */
    count: () => clients.size,
    /** Ends every stream, at shutdown. */
    close: () => {
      for (const client of clients) client.end()
    },
  }
}

type Frame = (emission: Emission) => Uint8Array

/** Encodes an emission once; the bytes live as long as the emission does. */
function createFrames(withIds: boolean): Frame {
  const known = new WeakMap<Emission, Uint8Array>()
  return (emission) => {
    const ready = known.get(emission)
    if (ready) return ready
    const id = withIds ? `id: ${emission.seq}\n` : ""
    const frame = encoder.encode(`${id}data: ${emission.json}\n\n`)
    known.set(emission, frame)
    return frame
  }
}

interface ClientOptions {
  queueBytes: number
  mute: ReadonlySet<string>
  frameOf: Frame
  leave: () => void
}

type Client = ReturnType<typeof createClient>

function createClient({ queueBytes, mute, frameOf, leave }: ClientOptions) {
  let controller!: ReadableStreamDefaultController<Uint8Array>
  let waiting: Uint8Array[] = []
  let waitingBytes = 0
  let limitBytes = Number.POSITIVE_INFINITY
  let state: "open" | "ending" | "closed" = "open"
  let scheduled = false
  let stalledBeats = 0
  let detach = () => {}

  const close = (finish: () => void) => {
    if (state === "closed") return
    state = "closed"
    waiting = []
    detach()
    leave()
    finish()
  }
  const drop = () => close(() => controller.error(new Error("the client left or does not read")))

  /** Hands the socket as much as it takes now. */
  const flush = () => {
    scheduled = false
    while (state !== "closed" && waiting.length > 0 && (controller.desiredSize ?? 0) > 0) {
      const chunk = takeChunk(waiting)
      waitingBytes -= chunk.byteLength
      stalledBeats = 0
      controller.enqueue(chunk)
    }
    if (state === "ending" && waiting.length === 0) close(() => controller.close())
  }

  const queue = (frame: Uint8Array) => {
    if (state !== "open") return
    waiting.push(frame)
    waitingBytes += frame.byteLength
    if (waitingBytes > limitBytes) return drop()
    if (scheduled) return
    scheduled = true
    setImmediate(flush)
  }

  const beat = () => {
    if (waiting.length === 0) return queue(HEARTBEAT)
    if (++stalledBeats >= STALLED_BEATS_MAX) drop()
  }

  const end = () => {
    if (state !== "open") return
    state = "ending"
    flush()
  }

  const stream: EventStream = {
    push: (emission) => {
      if (!mute.has(emission.type)) queue(frameOf(emission))
    },
    reset: (seq) => queue(encoder.encode(`id: ${seq}\ndata: {"type":"reset","seq":${seq}}\n\n`)),
    position: (seq) => queue(encoder.encode(`id: ${seq}\n\n`)),
    end,
  }

  const body = new ReadableStream<Uint8Array>(
    {
      start: (own) => {
        controller = own
      },
      pull: flush,
      cancel: () => close(() => {}),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: CHUNK_BYTES }),
  )

  return {
    body,
    beat,
    end,
    drop,
    attach: (attach: (stream: EventStream) => () => void) => {
      const detachNow = attach(stream)
      // What the client asked to see again may be long; only what comes on top of it is bounded.
      limitBytes = queueBytes + waitingBytes
      if (state === "closed") detachNow()
      else detach = detachNow
    },
  }
}

/** Takes frames off the queue, up to one chunk, as one piece. */
function takeChunk(waiting: Uint8Array[]): Uint8Array {
  let count = 1
  let bytes = waiting[0]!.byteLength
  while (count < waiting.length && bytes + waiting[count]!.byteLength <= CHUNK_BYTES) {
    bytes += waiting[count++]!.byteLength
  }
  const taken = waiting.splice(0, count)
  return taken.length === 1 ? taken[0]! : new Uint8Array(Bun.concatArrayBuffers(taken))
}
