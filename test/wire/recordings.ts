/** The recorded answers of real upstreams, and what their readers agreed on. */
import { expect } from "bun:test"
import type { StopReason } from "../../src/llm/provider.ts"
import type { fold, Protocol } from "./support.ts"

export interface Recorded {
  id: string
  protocol: Protocol
  /** Two independent SDKs read the same out of it. */
  sdks_agree: boolean
  expect: Expected
  body: string
}

export interface Expected {
  text?: string
  partial_text?: string
  refusal?: string
  reasoning?: string
  thinking?: string
  reasoning_summary?: string
  tool_calls?: { id?: string; call_id?: string; name: string; args: unknown }[]
  finish_reason?: string
  stop_reason?: string | null
  status?: string
  usage?: Counts | null
  error?: string
}

type Counts = Record<string, number | null | undefined | Record<string, number>>

/** Our words for what the upstreams call the end. A refusal by Anthropic's filter is a failure here. */
const STOPS: Record<string, StopReason | "refused"> = {
  stop: "end",
  end_turn: "end",
  stop_sequence: "end",
  pause_turn: "end",
  completed: "end",
  tool_calls: "tools",
  tool_use: "tools",
  length: "length",
  max_tokens: "length",
  refusal: "refused",
}

/** Where two SDKs agree and we still differ on purpose. Everything else must match to the letter. */
const OURS: Record<string, Partial<Outcome>> = {
  // Arguments cut by the output limit: the SDK repairs them, we keep what was written and never run the call.
  "anthropic-sdk-python/incomplete_partial_json_response.txt": {
    calls: [
      {
        id: "toolu_01EKqbqmZrGRXy18eN7m9kvY",
        name: "make_file",
        args: expect.stringMatching(/^\{"filename": "taxes.txt"[\s\S]*Filing taxes$/),
      },
    ],
  },
  // xAI and Copilot count thinking on top of the answer; here it is a part of it (LLM-026).
  "codecompanion/copilot_tools_streaming_reasoning": {
    usage: { prompt: 6009, completion: 123, cached: 0 },
  },
  "vercel-ai/xai-text": { usage: { prompt: 12, completion: 291, cached: 11 } },
  "vercel-ai/xai-text@openai-compatible": { usage: { prompt: 12, completion: 342, cached: 11 } },
  "vercel-ai/xai-tool-call@openai-compatible": {
    usage: { prompt: 307, completion: 253, cached: 306 },
  },
}

export interface Outcome {
  text: string
  thinking: string
  calls: unknown
  stop: string | undefined
  usage: unknown
}

export function expectedOutcome(one: Recorded): Outcome {
  const { expect: said } = one
  const calls = (said.tool_calls ?? []).map((call) => ({
    id: call.id ?? call.call_id,
    name: call.name,
    args: argumentsOf(call.args),
  }))
  const end = STOPS[said.finish_reason ?? said.stop_reason ?? said.status ?? ""]
  return {
    text: said.text ?? "",
    thinking: said.thinking || said.reasoning || said.reasoning_summary || "",
    calls,
    stop: end === "end" && calls.length > 0 ? "tools" : end,
    usage: countsOf(said.usage),
    ...OURS[one.id],
  }
}

/** What we made of it, in the same form: only what the recording has an opinion on. */
export function outcome(one: Recorded, folded: ReturnType<typeof fold>): Outcome {
  const want = expectedOutcome(one)
  return {
    text: folded.text,
    // Some readers drop thoughts altogether: nothing to compare with.
    thinking: want.thinking === "" ? "" : folded.thinking,
    calls: folded.calls,
    stop: folded.stop ?? folded.failure?.class,
    usage: want.usage && reported(folded.usage),
  }
}

/** `__raw` is how the recordings keep what is no JSON; an empty one is a call without arguments. */
function argumentsOf(args: unknown): unknown {
  const raw = (args as { __raw?: string })?.__raw
  return raw === undefined ? args : raw === "" ? {} : raw
}

interface Figures {
  prompt: number
  completion: number
  cached: number
}

function countsOf(raw: Counts | null | undefined): Figures | undefined {
  if (!raw) return undefined
  const of = (...names: string[]): number => {
    for (const name of names) {
      const [outer, inner] = name.split(".") as [string, string?]
      const value = raw[outer]
      if (typeof value === "number") return value
      if (inner && value && typeof value === "object" && inner in value) return value[inner]!
    }
    return 0
  }
  const cached = of(
    "cache_read",
    "cache_read_input_tokens",
    "input_tokens_details.cached_tokens",
    "prompt_tokens_details.cached_tokens",
  )
  const apart = of("cache_read_input_tokens") + of("cache_creation_input_tokens")
  const figures = {
    prompt: of("input", "prompt_tokens", "input_tokens") + apart,
    completion: of("output", "completion_tokens", "output_tokens"),
    cached,
  }
  return figures.prompt === 0 ? undefined : figures
}

function reported(usage: ReturnType<typeof fold>["usage"]): Figures | undefined {
  if (!usage) return undefined
  return {
    prompt: usage.prompt_tokens,
    completion: usage.completion_tokens,
    cached: usage.cached_tokens,
  }
}
