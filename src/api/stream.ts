/**
 * Server-sent events out of emissions. Each frame is encoded once however many clients get it, frames of
 * one tick leave in one piece, and a client that does not read is dropped at a limit instead of filling
 * the memory: it can come back and resume.
 */
import { UNMUTABLE } from "../schema/event.ts"
import { type Client, createClient, type EventStream } from "./stream-client.ts"
import { createFrames } from "./stream-frames.ts"

/** What may wait for a client that reads too slowly, beyond the replay it asked for. */
export const STREAM_QUEUE_BYTES = 1024 * 1024
/** Bun closes a connection that is silent for ten seconds, and proxies have limits of their own. */
const HEARTBEAT_MS = 5_000

const HEADERS = {
  "Content-Type": "text/event-stream; charset=utf-8",
  "Cache-Control": "no-store",
  // Tells nginx to pass pieces on as they come.
  "X-Accel-Buffering": "no",
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
