/**
 * The kernel's API as typed functions over HTTP. Whatever goes wrong comes out as a ClientError with one
 * sentence: the kernel's own, or what is wrong with the way to it.
 */
import { isLoopback } from "../../config/listen.ts"
import { isObject, tryParseJson } from "../../lib/json.ts"
import type { Health, ModelCatalogue } from "../../schema/catalogue.ts"
import type { Chat, ChatPatch, ChatQuery, ForkChat, NewChat } from "../../schema/chat.ts"
import type { OpProgress, OpResult } from "../../schema/client-op.ts"
import type { ContextReport } from "../../schema/context-report.ts"
import type { Effort } from "../../schema/effort.ts"
import type { FilesRestored } from "../../schema/files.ts"
import type { Generation } from "../../schema/generation.ts"
import type { HistoryQuery, Rewound } from "../../schema/history.ts"
import type { Item } from "../../schema/item.ts"
import type { QuestionAnswer } from "../../schema/question.ts"
import type { Send } from "../../schema/send.ts"
import type { ChatSpend } from "../../schema/stats.ts"
import type { Folded } from "../../schema/summary.ts"
import { ClientError, sentenceOf } from "./client-error.ts"
import type { Folder } from "./session.ts"

/** Where a kernel is and what it asks of callers. */
export interface KernelAddress {
  url: string
  token?: string | undefined
}

export interface ClientOptions {
  /** Asked anew for each request: a kernel may come back under another address. */
  address: () => KernelAddress
  /** How long an answer may take; a stream only has to begin within it. */
  timeoutMs?: number
}

const TIMEOUT_MS = 15_000
const FOLD_TIMEOUT_MS = 600_000

export type KernelClient = ReturnType<typeof createKernelClient>

export function createKernelClient(options: ClientOptions) {
  const read = <T>(path: string, query?: Query) => requestJson<T>(options, { path, query })
  const change = <T>(method: string, path: string, body?: object) =>
    requestJson<T>(options, { method, path, body })
  const chatPath = (chatId: string, rest = "") => `/v1/chats/${encodeURIComponent(chatId)}${rest}`
  return {
    health: () => read<Health>("/health"),
    models: () => read<ModelCatalogue>("/v1/models"),
    generations: async () =>
      (await read<{ generations: Generation[] }>("/v1/generations")).generations,

    chats: async (query: ChatQuery & { deleted?: string }) =>
      (await read<{ chats: Chat[] }>("/v1/chats", query)).chats,
    folders: async () => (await read<{ folders: Folder[] }>("/v1/chats/folders")).folders,
    chat: (chatId: string) => read<Chat>(chatPath(chatId)),
    createChat: (body: NewChat) => change<Chat>("POST", "/v1/chats", body),
    patchChat: (chatId: string, body: ChatPatch) => change<Chat>("PATCH", chatPath(chatId), body),
    removeChat: (chatId: string) => change<Chat>("DELETE", chatPath(chatId)),
    restoreChat: (chatId: string) => change<Chat>("POST", chatPath(chatId, "/restore")),
    fork: (chatId: string, body: ForkChat) => change<Chat>("POST", chatPath(chatId, "/fork"), body),
    setFolder: (chatId: string, folder: string | null) =>
      change<Chat>("PUT", chatPath(chatId, "/folder"), { folder }),
    setModel: (chatId: string, model: string | null) =>
      change<Chat>("PUT", chatPath(chatId, "/model"), { model }),
    setEffort: (chatId: string, effort: Effort | null) =>
      change<Chat>("PUT", chatPath(chatId, "/effort"), { effort }),

    items: async (chatId: string, query: HistoryQuery) =>
      (await read<{ items: Item[] }>(chatPath(chatId, "/items"), query)).items,
    rewind: (chatId: string, messageId: string) =>
      change<Rewound>("DELETE", chatPath(chatId, `/messages/${encodeURIComponent(messageId)}`)),
    contextOf: async (chat: Pick<Chat, "id"> | undefined) =>
      chat && read<ContextReport>(chatPath(chat.id, "/context")),
    /** A model sums up what may be long: that takes its time. */
    compact: (chatId: string) =>
      requestJson<Folded>(
        { ...options, timeoutMs: FOLD_TIMEOUT_MS },
        { method: "POST", path: chatPath(chatId, "/compact") },
      ),
    spend: (chatId: string) => read<ChatSpend>(chatPath(chatId, "/spend")),
    cancelChat: (chatId: string) => change<unknown>("POST", chatPath(chatId, "/cancel")),
    cancelTurn: (turnId: string) =>
      change<unknown>("POST", `/v1/generations/${encodeURIComponent(turnId)}/cancel`),

    opResult: (chatId: string, body: OpResult) =>
      change<void>("POST", chatPath(chatId, "/ops/result"), body),
    opProgress: (chatId: string, body: OpProgress) =>
      change<void>("POST", chatPath(chatId, "/ops/progress"), body),
    restoreFiles: (chatId: string) =>
      change<FilesRestored>("POST", chatPath(chatId, "/files/restore"), {}),
    answerQuestion: (chatId: string, body: QuestionAnswer) =>
      change<void>("POST", chatPath(chatId, "/questions/answer"), body),

    /** A stream of the turn that this send starts or repeats. */
    send: (chatId: string, body: Send, signal: AbortSignal) =>
      openStream(options, { method: "POST", path: chatPath(chatId, "/messages"), body, signal }),
    /** A stream of the chat's running turn; undefined when none runs and nothing was missed. */
    live: async (chatId: string, query: Query, signal: AbortSignal) => {
      const reply = await openStream(options, { path: chatPath(chatId, "/live"), query, signal })
      return reply.status === 204 ? undefined : reply
    },
    feed: (query: Query, signal: AbortSignal) =>
      openStream(options, { path: "/v1/feed", query, signal }),
  }
}

type Query = Record<string, string | number | undefined>

interface Call {
  path: string
  method?: string
  query?: Query | undefined
  body?: object | undefined
  signal?: AbortSignal
}

async function requestJson<T>(options: ClientOptions, call: Call): Promise<T> {
  const { timeoutMs = TIMEOUT_MS, address } = options
  const signal = AbortSignal.timeout(timeoutMs)
  try {
    const reply = await fetchChecked(address(), { ...call, signal })
    return (await reply.json()) as T
  } catch (error) {
    throw asClientError(error, address(), timeoutMs)
  }
}

/** The time limit holds until the headers are there; how the stream goes on is for its reader to judge. */
async function openStream(
  options: ClientOptions,
  call: Call & { signal: AbortSignal },
): Promise<Response> {
  const { timeoutMs = TIMEOUT_MS, address } = options
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(new DOMException("late", "TimeoutError")), timeoutMs)
  try {
    const signal = AbortSignal.any([call.signal, late.signal])
    return await fetchChecked(address(), { ...call, signal })
  } catch (error) {
    throw asClientError(error, address(), timeoutMs)
  } finally {
    clearTimeout(timer)
  }
}

async function fetchChecked(address: KernelAddress, call: Call): Promise<Response> {
  const { method = "GET", body, signal } = call
  const url = addressOf(address, call)
  const reply = await fetch(url, {
    method,
    redirect: "manual",
    headers: {
      ...(address.token !== undefined && { Authorization: `Bearer ${address.token}` }),
      ...(body !== undefined && { "Content-Type": "application/json" }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal !== undefined && { signal }),
    ...directly(url),
  })
  if (!reply.headers.has("X-Eva-Version")) {
    await reply.body?.cancel()
    throw new ClientError("no_kernel", `what answers at ${address.url} is no eva-kernel`)
  }
  if (!reply.ok) throw problemOf(await reply.text(), reply.status, address)
  return reply
}

function addressOf({ url: base }: KernelAddress, { path, query = {} }: Call): URL {
  const url = URL.parse(base.replace(/\/*$/, "") + path)
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new ClientError("usage", `"${base}" is no address such as http://127.0.0.1:8090`)
  }
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, String(value))
  }
  return url
}

/** A proxy from the environment must not carry what stays on this machine; Bun's types lack the `false`. */
const directly = (url: URL): { proxy?: string } =>
  isLoopback(url.hostname.replace(/^\[|\]$/g, "")) ? { proxy: false as unknown as string } : {}

function problemOf(text: string, status: number, address: KernelAddress): ClientError {
  if (status === 401) {
    const advice = address.token === undefined ? "give one with" : "check"
    const what = address.token === undefined ? "wants a token" : "does not accept this token"
    const message = `the kernel at ${address.url} ${what}; ${advice} --token or EVA_TOKEN`
    return new ClientError("unauthorized", message)
  }
  const problem = tryParseJson(text)?.value
  if (isObject(problem) && typeof problem.error === "string" && typeof problem.code === "string") {
    const path = typeof problem.path === "string" ? problem.path : undefined
    return new ClientError(problem.code, problem.error, { path })
  }
  return new ClientError("no_kernel", `${address.url} answered with status ${status}`)
}

const REASONS: Record<string, string> = {
  ECONNREFUSED: "nothing listens there",
  ENOTFOUND: "no such host",
  ECONNRESET: "the connection broke",
  ECONNABORTED: "the connection broke",
  EPIPE: "the connection broke",
  EPROTO: "it does not speak TLS there",
  ETIMEDOUT: "no answer",
}

/** A failed request as one sentence. What the caller aborted itself comes out as it is. */
export function asClientError(
  error: unknown,
  address: KernelAddress,
  timeoutMs = TIMEOUT_MS,
): unknown {
  if (error instanceof ClientError) return error
  if (error instanceof Error && error.name === "AbortError") return error
  const late = error instanceof Error && error.name === "TimeoutError"
  const code = error instanceof Error && "code" in error ? String(error.code) : ""
  const reason = late
    ? `no answer within ${Math.ceil(timeoutMs / 1000)} s`
    : (REASONS[code] ?? sentenceOf(error))
  const message = `cannot reach the kernel at ${address.url}: ${reason}`
  return new ClientError("unreachable", message, { cause: error })
}
