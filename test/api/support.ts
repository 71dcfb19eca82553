/** A kernel behind a real socket, and a client for it. */
import { type Api, createApi } from "../../src/api/app.ts"
import type { ApiParts } from "../../src/api/parts.ts"
import { parseJson } from "../../src/lib/json.ts"
import { type TestKernel, type TestKernelOptions, testKernel } from "../support/kernel.ts"
import { PATIENCE_MS } from "../support/patience.ts"
import { type OpenApi, replyCheck } from "./reply-check.ts"

export interface TestApi {
  kernel: TestKernel
  api: Api
  url: string
  /** `call("POST /v1/chats", { title: "x" })`; text goes out as it is. */
  call: (route: string, body?: unknown, headers?: Record<string, string>) => Promise<Reply>
  /** Opens a stream and gives its frames as they come. */
  open: (route: string, body?: unknown, headers?: Record<string, string>) => Promise<Frames>
  newChat: (body?: object) => Promise<string>
  dispose: () => Promise<void>
}

export interface Reply {
  status: number
  headers: Headers
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into a reply and fails when it is not there
  json: any
}

export interface TestApiOptions extends TestKernelOptions {
  parts?: Partial<ApiParts>
}

export async function testApi(options: TestApiOptions = {}): Promise<TestApi> {
  const kernel = await testKernel(options)
  const api = createApi({ ...kernel.api, ...options.parts })
  const server = api.listen({ hostname: "127.0.0.1", port: 0 })
  const send = (route: string, body?: unknown, headers: Record<string, string> = {}) => {
    const [method, path] = route.split(" ") as [string, string]
    return fetch(server.url + path, {
      method,
      redirect: "manual",
      headers: { ...(body !== undefined && { "Content-Type": "application/json" }), ...headers },
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    })
  }
  const document = await api.fetch(new Request("http://localhost/v1/openapi.json", HOST))
  const complaintsAbout = replyCheck((await document.json()) as OpenApi)
  const call: TestApi["call"] = async (...request) => {
    const { status, headers, ...response } = await readWhole(await send(...request))
    const isJson = response.text !== "" && headers.get("content-type")?.includes("/json")
    const json = isJson ? parseJson(response.text) : undefined
    const complaints = complaintsAbout(request[0], status, json)
    if (complaints.length > 0) throw new Error(complaints.join("\n"))
    return { ...response, status, headers, json }
  }
  return {
    kernel,
    api,
    url: server.url,
    call,
    open: async (...request) => framesOf(await send(...request)),
    newChat: async (body = {}) => (await call("POST /v1/chats", body)).json.id,
    dispose: async () => {
      await server.stop()
      await kernel.dispose()
    },
  }
}

const HOST = { headers: { Host: "localhost" } }

const readWhole = async (response: Response) => ({
  status: response.status,
  headers: response.headers,
  text: await response.text(),
})

export interface Frame {
  id: string | undefined
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into an event and fails when it is not there
  data: any
}

export type Frames = ReturnType<typeof framesOf>

/** The frames of an event stream; comments are kept apart. */
export function framesOf(response: Response) {
  const reader = response.body!.getReader()
  const decoder = new TextDecoder()
  const seen: Frame[] = []
  let comments = 0
  let rest = ""
  const take = (text: string) => {
    rest += text
    const pieces = rest.split("\n\n")
    rest = pieces.pop()!
    for (const piece of pieces) {
      const lines = piece.split("\n")
      if (lines.some((line) => line.startsWith(":"))) comments++
      const field = (name: string) =>
        lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2)
      const data = field("data")
      const id = field("id")
      if (data !== undefined || id !== undefined) {
        seen.push({ id, data: data === undefined ? undefined : parseJson(data) })
      }
    }
  }
  /** Reads on until `enough` holds or the stream ends. */
  const until = async (enough: () => boolean): Promise<Frame[]> => {
    while (!enough()) {
      const { done, value } = await reader.read()
      if (done) break
      take(decoder.decode(value, { stream: true }))
    }
    return seen
  }
  return {
    response,
    seen,
    comments: () => comments,
    until,
    /** The frame of this type, waited for. */
    next: async (type: string): Promise<Frame> => {
      await until(() => seen.some((frame) => frame.data?.type === type))
      const found = seen.find((frame) => frame.data?.type === type)
      if (!found) throw new Error(`the stream ended without ${type}`)
      return found
    },
    toEnd: () => until(() => false),
    leave: () => reader.cancel(),
  }
}

export const typesOf = (frames: readonly Frame[]): string[] =>
  frames.map((frame) => frame.data?.type)

/** Waits until something holds that no event tells of. */
export async function eventually(holds: () => boolean, limitMs = PATIENCE_MS): Promise<void> {
  const end = performance.now() + limitMs
  while (!holds()) {
    if (performance.now() > end) throw new Error(`still not so after ${limitMs} ms: ${holds}`)
    await Bun.sleep(5)
  }
}
