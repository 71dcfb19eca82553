/** One client of an event stream: what waits for it, when it is dropped, how it ends. */
import type { Emission } from "../events/bus.ts"
import {
  CHUNK_BYTES,
  createFrameQueue,
  type FrameOf,
  HEARTBEAT_FRAME,
  positionFrame,
  resetFrame,
} from "./stream-frames.ts"

/** A client with frames waiting that takes none for so many heartbeats is gone. */
const STALLED_BEATS_MAX = 12

/** A client's end of a stream, for who feeds it. */
export interface EventStream {
  push(emission: Emission): void
  /** The position that the client asked for is gone: it must read items again. */
  reset(seq: number): void
  /** Where the stream stands before its first event: a browser resumes from here. */
  position(seq: number): void
  /** Sends what waits and closes. */
  end(): void
}

export interface ClientOptions {
  /** What may wait for the client, beyond what it is given while it attaches. */
  queueBytes: number
  mute: ReadonlySet<string>
  frameOf: FrameOf
  /** Called once, when the client is gone for whatever reason. */
  leave: () => void
}

export type Client = ReturnType<typeof createClient>

export function createClient({ queueBytes, mute, frameOf, leave }: ClientOptions) {
  const pipe = createPipe(leave)
  const stream: EventStream = {
    push: (emission) => {
      if (!mute.has(emission.type)) pipe.send(frameOf(emission))
    },
    reset: (seq) => pipe.send(resetFrame(seq)),
    position: (seq) => pipe.send(positionFrame(seq)),
    end: pipe.end,
  }
  return {
    body: pipe.body,
    beat: pipe.beat,
    end: pipe.end,
    drop: pipe.drop,
    /** `attach` pushes what there is and gives what detaches the stream from its source. */
    attach: (attach: (stream: EventStream) => () => void): void => {
      pipe.onClose(attach(stream))
      // What the client asked to see again may be long; only what comes on top of it is bounded.
      pipe.limit(queueBytes)
    },
  }
}

/** A queue in front of a socket: bounded, flushed once a tick, closed from either side. */
function createPipe(leave: () => void) {
  const waiting = createFrameQueue()
  let controller!: ReadableStreamDefaultController<Uint8Array>
  let state: "open" | "ending" | "closed" = "open"
  let queueBytes = Number.POSITIVE_INFINITY
  let limitBytes = Number.POSITIVE_INFINITY
  let scheduled = false
  let stalledBeats = 0
  let detach = () => {}

  const close = (finish: () => void) => {
    if (state === "closed") return
    state = "closed"
    waiting.clear()
    detach()
    leave()
    finish()
  }
  const drop = () => close(() => controller.error(new Error("the client left or does not read")))

  /** Hands the socket as much as it takes now. */
  const flush = () => {
    scheduled = false
    while (state !== "closed" && !waiting.isEmpty() && (controller.desiredSize ?? 0) > 0) {
      stalledBeats = 0
      controller.enqueue(waiting.take())
    }
    if (state === "ending" && waiting.isEmpty()) close(() => controller.close())
  }
  const send = (frame: Uint8Array) => {
    if (state !== "open") return
    waiting.push(frame)
    // One event may be longer than the bound, as a long answer is: it is no sign that nobody reads.
    limitBytes = Math.max(limitBytes, frame.byteLength + queueBytes)
    if (waiting.bytes() > limitBytes) return drop()
    if (scheduled) return
    scheduled = true
    setImmediate(flush)
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
    ...{ body, send, drop },
    beat: () => {
      if (waiting.isEmpty()) send(HEARTBEAT_FRAME)
      else if (++stalledBeats >= STALLED_BEATS_MAX) drop()
    },
    end: () => {
      if (state === "open") state = "ending"
      flush()
    },
    limit: (bytes: number) => {
      queueBytes = bytes
      limitBytes = waiting.bytes() + bytes
    },
    onClose: (call: () => void) => {
      if (state === "closed") call()
      else detach = call
    },
  }
}
