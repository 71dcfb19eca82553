/**
 * The HTTP server of the kernel: the door in front, the routes behind it, and what every reply bears.
 */
import type { Server } from "bun"
import type { AnyElysia } from "elysia"
import { parseListen } from "../config/listen.ts"
import { settledWithin } from "../lib/async.ts"
import { errorText, KernelError } from "../lib/error.ts"
import { judge } from "./door.ts"
import type { ApiParts } from "./parts.ts"
import { problemReply, replyToThrown } from "./problem.ts"
import { createRoutes } from "./routes.ts"
import { createStreams } from "./stream.ts"

/** A connection that is silent so long is closed. Streams and slow routes lift this for themselves. */
const IDLE_SECONDS = 30
const STOP_MAX_MS = 1000

export interface Listening {
  /** Such as `http://127.0.0.1:8090`. */
  url: string
  port: number
  /** Takes no more connections, ends all streams, lets answers on their way arrive for a second. */
  stop(): Promise<void>
}

export type Api = ReturnType<typeof createApi>

export function createApi(parts: ApiParts) {
  const streams = createStreams(parts.streams)
  const routes = createRoutes(parts, streams)
  const answer = (request: Request) => answerRequest({ parts, routes }, request)
  return {
    /** Answers one request as the server would, without a socket. */
    fetch: answer,
    routes,
    /** How many clients follow a stream. */
    streamCount: streams.count,
    /** Throws KernelError("unavailable") when the address cannot be had. Default: the address of the settings. */
    listen: (address = parseListen(parts.config.server.listen)): Listening => {
      if (!address) throw new Error("the listen address was not checked")
      const server = openServer(address, answer, parts)
      routes.server = server
      return {
        url: server.url.href.replace(/\/$/, ""),
        port: server.port ?? address.port,
        stop: async () => {
          streams.close()
          // Answers on their way still arrive; a client that does not read must not hold the stop.
          if (!(await settledWithin(server.stop(), STOP_MAX_MS))) await server.stop(true)
        },
      }
    },
  }
}

function openServer(
  { hostname, port }: { hostname: string; port: number },
  answer: (request: Request) => Promise<Response>,
  parts: ApiParts,
): Server<unknown> {
  try {
    return Bun.serve({
      hostname,
      port,
      development: false,
      idleTimeout: IDLE_SECONDS,
      // Bun's own refusal has no body; ours says what the limit is and where it is set.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      fetch: answer,
      error: (error) => replyToThrown(error, parts),
    })
  } catch (error) {
    throw new KernelError(
      "unavailable",
      `cannot listen on ${hostname}:${port}: ${errorText(error)}`,
      { path: "server.listen", cause: error },
    )
  }
}

async function answerRequest(
  { parts, routes }: { parts: ApiParts; routes: AnyElysia },
  request: Request,
): Promise<Response> {
  const { method, headers, url } = request
  const verdict = judge({ method, path: pathOf(url), headers }, parts.config.server)
  const reply = await replyTo()
  for (const [name, value] of Object.entries(verdict.headers)) reply.headers.set(name, value)
  reply.headers.set("X-Eva-Version", parts.build.version)
  reply.headers.set("X-Content-Type-Options", "nosniff")
  if (!reply.headers.has("Cache-Control")) reply.headers.set("Cache-Control", "no-store")
  return reply

  async function replyTo(): Promise<Response> {
    if (verdict.kind === "preflight") return new Response(null, { status: 204 })
    if (verdict.kind === "refuse") return problemReply(verdict.code, verdict.error)
    try {
      return await routes.handle(request)
    } catch (error) {
      return replyToThrown(error, parts)
    }
  }
}

/** The path of an absolute address, without a parse of the rest. */
function pathOf(url: string): string {
  const start = url.indexOf("/", url.indexOf("://") + 3)
  const end = url.slice(start).search(/[?#]/)
  return start < 0 ? "/" : end < 0 ? url.slice(start) : url.slice(start, start + end)
}
