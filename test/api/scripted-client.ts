/**
 * A client with hands, over real HTTP: it follows the feed of a kernel and answers what the kernel asks of
 * it, as a test says. What is replayed it does not carry out.
 */
import { Type } from "@sinclair/typebox"
import type { OpResult } from "../../src/schema/client-op.ts"
import type { Tool } from "../../src/tools/tool.ts"
import type { Frame, TestApi } from "./support.ts"

// biome-ignore lint/suspicious/noExplicitAny: a test looks into an event and fails when it is not there
export type Asked = any

export interface ScriptedClient {
  /** Everything that the feed told so far. */
  seen: Frame[]
  /** Operations and calls that came for execution. */
  asked: Asked[]
  /** The event of this type that fits, waited for. */
  sees(type: string, fits?: (event: Asked) => boolean): Promise<Asked>
  post(result: object): Promise<number>
}

export interface ClientOptions {
  api: TestApi
  /** The chat in whose path results are posted. */
  chat: string
  /** What is answered to an operation or a call; undefined: nothing. */
  answer?: (event: Asked) => Omit<OpResult, "id"> | undefined
}

/** Listens once this has resolved; ends with the server. */
export async function scriptedClient(options: ClientOptions): Promise<ScriptedClient> {
  const { api, chat, answer = () => undefined } = options
  const feed = await api.open("GET /v1/feed")
  const asked: Asked[] = []
  const watchers = new Set<() => void>()
  const post = async (result: object): Promise<number> =>
    (await api.call(`POST /v1/chats/${chat}/ops/result`, result)).status
  const take = (event: Asked): void => {
    if (event?.type !== "client_op" && event?.type !== "extra_tool_call") return
    if (event.replayed) return
    asked.push(event)
    const result = answer(event)
    if (result) void post({ id: event.op_id ?? event.id, ...result })
  }
  const follow = async (): Promise<void> => {
    for (let taken = 0; ; ) {
      const before = feed.seen.length
      await feed.until(() => feed.seen.length > taken)
      for (const frame of feed.seen.slice(taken)) take(frame.data)
      taken = feed.seen.length
      for (const look of watchers) look()
      if (feed.seen.length === before && taken === before) return
    }
  }
  void follow()
  const sees: ScriptedClient["sees"] = async (type, fits = () => true) => {
    const { promise, resolve } = Promise.withResolvers<Asked>()
    const look = () => {
      const found = feed.seen.find(({ data }) => data?.type === type && fits(data))
      if (found) resolve(found.data)
    }
    watchers.add(look)
    look()
    const found = await promise
    watchers.delete(look)
    return found
  }
  return { seen: feed.seen, asked, sees, post }
}

/** A tool that has the client do what its arguments say. */
export const handTool = (more: Partial<Tool> = {}): Tool => ({
  ...{ name: "hand", group: "test", description: "Asks the client.", gates: [], traits: {} },
  input: Type.Object({ op: Type.Any(), timeout_ms: Type.Optional(Type.Integer()) }),
  run: async (context, input) => {
    const { op, timeout_ms: timeoutMs = 30_000 } = input as Asked
    return { output: await context.clientOp(op, { timeoutMs }) }
  },
  ...more,
})
