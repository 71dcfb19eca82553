/** Chat Completions: OpenAI's older wire, and that of every gateway and local server. */
import { chatBody } from "./openai-chat-body.ts"
import { createChatDecoder } from "./openai-chat-decode.ts"
import { chatQuirks } from "./openai-chat-quirks.ts"
import { createOpenAiClient, OPENAI_BASE_URL } from "./openai-client.ts"
import type { Provider } from "./provider.ts"
import type { UpstreamOptions } from "./upstream.ts"
import { streamWire } from "./wire-stream.ts"

const KIND = "openai"

/** A provider over POST {base_url}/chat/completions. */
export function createOpenAiChat(options: UpstreamOptions): Provider {
  const client = createOpenAiClient(options)
  const quirks = chatQuirks(options.baseUrl ?? OPENAI_BASE_URL)
  const structuredOutput = options.structuredOutput ?? false
  return {
    kind: KIND,
    stream: (request, signal) =>
      streamWire(
        {
          send: async (abort) =>
            client.chat(chatBody(request, { kind: KIND, quirks, structuredOutput }), abort),
          decoder: createChatDecoder(),
          options,
        },
        signal,
      ),
  }
}
