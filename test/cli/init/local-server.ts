/** A model server of this machine as init meets it: its list, its window, one streamed answer. */

export interface LocalServer {
  /** With the version folder. */
  baseUrl: string
  /** The keys that came with requests for an answer. */
  keys: (string | null)[]
  [Symbol.dispose](): void
}

export interface LocalServerOptions {
  /** Of `GET /v1/models`. */
  models: Record<string, unknown>[]
  /** Further answers by path. */
  pages?: Record<string, unknown>
  /** The only key that is let in. */
  key?: string
}

export function localServer({ models, pages = {}, key }: LocalServerOptions): LocalServer {
  const keys: (string | null)[] = []
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request) => {
      const { pathname } = new URL(request.url)
      const given = request.headers.get("authorization")
      if (pathname.endsWith("/chat/completions")) keys.push(given)
      if (key !== undefined && given !== `Bearer ${key}`) {
        return Response.json({ error: { message: "Incorrect API key provided" } }, { status: 401 })
      }
      if (pathname === "/v1/models") return Response.json({ object: "list", data: models })
      if (pathname in pages) return Response.json(pages[pathname])
      if (pathname === "/v1/chat/completions") return answer()
      return new Response("not found", { status: 404 })
    },
  })
  return {
    baseUrl: `http://127.0.0.1:${server.port}/v1`,
    keys,
    [Symbol.dispose]: () => void server.stop(true),
  }
}

function answer(): Response {
  const chunk = (fields: object): string =>
    `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", created: 1, model: "m", ...fields })}\n\n`
  const body = [
    chunk({ choices: [{ index: 0, delta: { role: "assistant", content: "Hello, " } }] }),
    chunk({ choices: [{ index: 0, delta: { content: "home." } }] }),
    chunk({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }),
    chunk({ choices: [], usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 } }),
    "data: [DONE]\n\n",
  ].join("")
  return new Response(body, { headers: { "content-type": "text/event-stream" } })
}
