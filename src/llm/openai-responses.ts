/** Responses: OpenAI's newer wire, on which thoughts travel encrypted. */
import { createOpenAiClient, OPENAI_BASE_URL } from "./openai-client.ts"
import { responsesBody } from "./openai-responses-body.ts"
import { createResponsesDecoder } from "./openai-responses-decode.ts"
import type { Provider } from "./provider.ts"
import type { UpstreamOptions } from "./upstream.ts"
import { streamWire } from "./wire-stream.ts"

const KIND = "openai-responses"

/** A provider over POST {base_url}/responses. */
export function createOpenAiResponses(options: UpstreamOptions): Provider {
  const client = createOpenAiClient(options)
  const host = URL.parse(options.baseUrl ?? OPENAI_BASE_URL)?.hostname ?? ""
  const genuine = /(?:^|\.)(?:openai|azure)\.com$/.test(host)
  const structuredOutput = options.structuredOutput ?? false
  return {
    kind: KIND,
    stream: (request, signal) => {
      const send = async (abort: AbortSignal) =>
        client.responses(responsesBody(request, { kind: KIND, structuredOutput, genuine }), abort)
      return streamWire({ send, decoder: createResponsesDecoder(), options }, signal)
    },
  }
}
