/**
 * What a model is to the kernel. A provider turns one request into a stream of events and never throws:
 * failure is the last event, with a class that says what helps.
 */
import type { Effort } from "../schema/effort.ts"
import type { Block, Role } from "../schema/message.ts"
import type { ToolSpec } from "../schema/tool-spec.ts"
import type { RateLimit, Usage } from "../schema/usage.ts"

/** Bytes of a picture, resolved before the request leaves. */
export interface ImageData {
  mediaType: string
  base64: string
}

export interface ModelMessage {
  role: Role
  blocks: Block[]
  /** A cache marker belongs behind so many of the blocks. */
  cacheMark?: number
}

export interface SystemPart {
  text: string
  /** A cache marker belongs after this part. */
  cacheMark?: boolean
}

export interface ModelRequest {
  model: string
  system: SystemPart[]
  messages: ModelMessage[]
  tools: ToolSpec[]
  /** `{ name }` forces one tool, `none` forbids calls; absent lets the model choose. */
  toolChoice?: { name: string } | "none"
  maxTokens?: number
  temperature?: number
  effort: Effort
  /** JSON Schema of the final answer. */
  answerSchema?: { name: string; schema: Record<string, unknown>; strict: boolean }
  /** Time to live of the marked prefix; absent sends no markers at all. */
  cacheTtl?: "5m" | "1h"
  /** The model draws in its own answer: ask for pictures too. */
  imageOutput?: boolean
  /** Pictures by id; a block whose id is missing here is sent as a text mark. */
  images: ReadonlyMap<string, ImageData>
  /** Stable per chat: a hint for providers that route by it. */
  sessionKey?: string
  /** Optional wire features that this model's upstream refused before (`ProviderFailure.unsupported`): leave them out. */
  omit?: ReadonlySet<string>
}

/**
 * What helps: `transient` wait and ask again · `overflow` shrink · `model` another model (withdrawn, quota
 * spent, unsupported) · `refused` neither (content filter) · `budget` our own cap · `auth` another key ·
 * `fatal` nothing (a malformed request) · `cancelled` nobody wants it any more.
 */
export const FAILURE_CLASSES = [
  "transient",
  "overflow",
  "model",
  "refused",
  "budget",
  "auth",
  "fatal",
  "cancelled",
] as const
export type FailureClass = (typeof FAILURE_CLASSES)[number]

export interface ProviderFailure {
  class: FailureClass
  /** For people; no headers, no keys. */
  message: string
  status?: number
  /** The provider's own wish, milliseconds. */
  retryAfterMs?: number
  /** The optional wire feature (`response_format`, `cache_control` …) that the upstream does not know. */
  unsupported?: string
}

export type StopReason = "end" | "tools" | "length" | "refusal"

export type ProviderEvent =
  | { type: "text"; text: string }
  | { type: "thinking"; text: string }
  /** Closes the current thought; `redacted` is a thought that is not shown. */
  | { type: "thinking_end"; signature?: string; redacted?: string }
  | { type: "tool_call"; index: number; id?: string; name?: string; arguments: string }
  | { type: "image"; mediaType: string; base64: string }
  | { type: "usage"; usage: Usage }
  | { type: "rate_limits"; limits: RateLimit[] }
  | { type: "stop"; reason: StopReason }
  | { type: "failed"; failure: ProviderFailure }

export interface Provider {
  /** The wire: `anthropic`, `openai`, `mock`. Signed thoughts go back only to the wire and model they came from. */
  readonly kind: string
  /**
   * Adjacent deltas of one network read come merged. The last event is `stop` or `failed`. An aborted signal
   * ends the stream with class `cancelled`. Must not throw.
   */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ProviderEvent>
}
