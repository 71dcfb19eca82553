/** The only file that knows the `openai` package. Both OpenAI wires and embeddings send through it. */
import type OpenAI from "openai"
import { NO_KEY, SDK_TIMEOUT_MS, type UpstreamOptions, upstreamFetch } from "./upstream.ts"

export type ChatParams = OpenAI.ChatCompletionCreateParamsStreaming
export type ChatMessage = OpenAI.ChatCompletionMessageParam
export type ChatContentPart = OpenAI.ChatCompletionContentPart
export type ChatToolCall = OpenAI.ChatCompletionMessageFunctionToolCall
export type ResponsesParams = OpenAI.Responses.ResponseCreateParamsStreaming
export type ResponsesItem = OpenAI.Responses.ResponseInputItem
export type ResponsesContent = OpenAI.Responses.ResponseInputContent
export type EmbeddingParams = OpenAI.EmbeddingCreateParams
export type EmbeddingAnswer = OpenAI.CreateEmbeddingResponse

export const OPENAI_BASE_URL = "https://api.openai.com/v1"

export interface OpenAiClient {
  /** POST /chat/completions; the body of the answer is unread. */
  chat(params: ChatParams, signal: AbortSignal): Promise<Response>
  /** POST /responses; the body of the answer is unread. */
  responses(params: ResponsesParams, signal: AbortSignal): Promise<Response>
  /** POST /embeddings */
  embeddings(params: EmbeddingParams, signal: AbortSignal): Promise<EmbeddingAnswer>
}

/** The SDK loads with the first request: a kernel that starts must not wait for it. */
export function createOpenAiClient(options: UpstreamOptions): OpenAiClient {
  let loading: Promise<OpenAI> | undefined
  const client = (): Promise<OpenAI> => {
    loading ??= load(options)
    return loading
  }
  return {
    chat: async (params, signal) =>
      (await client()).chat.completions.create(params, { signal }).asResponse(),
    responses: async (params, signal) =>
      (await client()).responses.create(params, { signal }).asResponse(),
    embeddings: async (params, signal) => (await client()).embeddings.create(params, { signal }),
  }
}

async function load(options: UpstreamOptions): Promise<OpenAI> {
  const { OpenAI } = await import("openai")
  return new OpenAI({
    apiKey: options.apiKey ?? NO_KEY,
    baseURL: options.baseUrl ?? OPENAI_BASE_URL,
    fetch: upstreamFetch(options),
    maxRetries: 0,
    timeout: SDK_TIMEOUT_MS,
    logLevel: "off",
    // Given, so that the SDK does not take them from the environment.
    organization: null,
    project: null,
    adminAPIKey: null,
    webhookSecret: null,
  })
}
