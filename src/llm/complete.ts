/**
 * One question, one answer: titles, triage, folding, plain completions. It does not think unless it is asked
 * to, offers no tools and writes no cache, since nobody comes back to the same prefix.
 */
import type { Effort } from "../schema/effort.ts"
import { emptyUsage, type Usage } from "../schema/usage.ts"
import type { Spender } from "./budget.ts"
import type { ModelMessage, ModelRequest, ProviderFailure, StopReason } from "./provider.ts"
import type { Router } from "./router.ts"

export interface Question {
  model: string
  system: string
  /** Ends with the user's message. */
  messages: ModelMessage[]
  signal: AbortSignal
  spender: Spender
  /** Default: off. */
  effort?: Effort
  maxTokens?: number
  temperature?: number
  answerSchema?: ModelRequest["answerSchema"]
  images?: ModelRequest["images"]
  /** Default: no cache markers. */
  cacheTtl?: ModelRequest["cacheTtl"]
  fallback?: readonly string[]
}

/** `usage` adds up every attempt, failed ones too. `stop: length` means that the text was cut. */
export type Answer =
  | { text: string; stop: StopReason; model: string; usage: Usage }
  | { failure: ProviderFailure; usage: Usage }

/** Never throws for what the upstream does; a model that is not known throws `invalid`. */
export async function complete(router: Router, question: Question): Promise<Answer> {
  const { model: wanted, signal, spender, fallback } = question
  const events = router.stream({
    model: wanted,
    buildRequest: ({ entry }) => requestOf(question, entry.name),
    signal,
    spender,
    ...(fallback && { fallback }),
    onOverflow: "larger",
    unseen: true,
  })
  let text = ""
  let model = wanted
  let usage = emptyUsage()
  for await (const event of events) {
    switch (event.type) {
      case "model":
        text = ""
        model = event.model
        break
      case "text":
        text += event.text
        break
      case "usage":
        usage = addUsage(usage, event.usage)
        break
      case "stop":
        return { text, stop: event.reason, model, usage }
      case "failed":
        return { failure: event.failure, usage }
    }
  }
  return { failure: { class: "transient", message: "the stream ended without an end" }, usage }
}

function requestOf(question: Question, model: string): ModelRequest {
  const { system, messages, effort = "off", images = new Map() } = question
  const { maxTokens, temperature, answerSchema, cacheTtl } = question
  return {
    model,
    // The head is all that a later question may share.
    system: [{ text: system, ...(cacheTtl && { cacheMark: true }) }],
    messages,
    tools: [],
    effort,
    images,
    ...(maxTokens !== undefined && { maxTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(answerSchema && { answerSchema }),
    ...(cacheTtl && { cacheTtl }),
  }
}

/** The sum of two trips. One without a price leaves the cost of the other standing. */
export function addUsage(a: Usage, b: Usage): Usage {
  const estimated = a.estimated || b.estimated
  return {
    prompt_tokens: a.prompt_tokens + b.prompt_tokens,
    completion_tokens: a.completion_tokens + b.completion_tokens,
    reasoning_tokens: a.reasoning_tokens + b.reasoning_tokens,
    cached_tokens: a.cached_tokens + b.cached_tokens,
    cache_write_tokens: a.cache_write_tokens + b.cache_write_tokens,
    cost: a.cost === null && b.cost === null ? null : (a.cost ?? 0) + (b.cost ?? 0),
    ...(estimated && { estimated }),
  }
}
