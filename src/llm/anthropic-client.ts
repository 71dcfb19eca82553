/** The only file that knows the `@anthropic-ai/sdk` package. */
import type Anthropic from "@anthropic-ai/sdk"
import { NO_KEY, SDK_TIMEOUT_MS, type UpstreamOptions, upstreamFetch } from "./upstream.ts"

export type AnthropicParams = Anthropic.MessageCreateParamsStreaming
export type AnthropicMessage = Anthropic.MessageParam
export type AnthropicContent = Anthropic.ContentBlockParam
export type AnthropicTool = Anthropic.Tool
export type AnthropicText = Anthropic.TextBlockParam
export type CacheControl = Anthropic.CacheControlEphemeral

export const ANTHROPIC_BASE_URL = "https://api.anthropic.com"

export interface AnthropicClient {
  /** POST /v1/messages; the body of the answer is unread. */
  messages(params: AnthropicParams, signal: AbortSignal): Promise<Response>
}

/** The SDK loads with the first request: a kernel that starts must not wait for it. */
export function createAnthropicClient(options: UpstreamOptions): AnthropicClient {
  let loading: Promise<Anthropic> | undefined
  return {
    messages: async (params, signal) => {
      loading ??= load(options)
      // `messages.create` writes to the console about models of a certain age; this is what it does besides.
      const client = await loading
      return client.post("/v1/messages", { body: params, stream: true, signal }).asResponse()
    },
  }
}

async function load(options: UpstreamOptions): Promise<Anthropic> {
  const { Anthropic } = await import("@anthropic-ai/sdk")
  return new Anthropic({
    // Always a key: without one the SDK looks for credentials in the environment and in the home folder.
    apiKey: options.apiKey ?? NO_KEY,
    baseURL: baseUrl(options),
    fetch: upstreamFetch(options),
    maxRetries: 0,
    timeout: SDK_TIMEOUT_MS,
    logLevel: "off",
    openTelemetry: false,
    webhookKey: null,
  })
}

/** The SDK adds `/v1` itself; people who know OpenAI's form write it too. */
const baseUrl = (options: UpstreamOptions): string =>
  (options.baseUrl ?? ANTHROPIC_BASE_URL).replace(/\/v1\/?$/, "")
