/** The Messages API of Anthropic, and of others who speak it. */

import { answerTool } from "./answer-tool.ts"
import { anthropicBody } from "./anthropic-body.ts"
import { ANTHROPIC_BASE_URL, createAnthropicClient } from "./anthropic-client.ts"
import { createAnthropicDecoder } from "./anthropic-decode.ts"
import type { Provider } from "./provider.ts"
import type { UpstreamOptions } from "./upstream.ts"
import { streamWire } from "./wire-stream.ts"

const KIND = "anthropic"

/** A provider over POST {base_url}/v1/messages. `base_url` may end in `/v1` or not. */
export function createAnthropic(options: UpstreamOptions): Provider {
  const client = createAnthropicClient(options)
  const host = URL.parse(options.baseUrl ?? ANTHROPIC_BASE_URL)?.hostname ?? ""
  const genuine = /(?:^|\.)anthropic\.com$/.test(host)
  return {
    kind: KIND,
    stream: (request, signal) => {
      const answer = answerTool(request)
      const decoder = createAnthropicDecoder(answer)
      const send = async (abort: AbortSignal) =>
        client.messages(anthropicBody(request, { kind: KIND, answerTool: answer, genuine }), abort)
      return streamWire({ send, decoder, options }, signal)
    },
  }
}
