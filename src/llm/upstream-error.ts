/** Reads what upstreams send as an error, in all the shapes they have, into one. Pure. */
import { isObject, tryParseJson } from "../lib/json.ts"

export interface UpstreamError {
  message: string
  /** HTTP status of the answer, or the one named inside a stream. */
  status?: number
  /** `overloaded_error`, `invalid_request_error` … */
  type?: string
  /** `context_length_exceeded`, `insufficient_quota` … */
  code?: string
}

/** Reads the body of an answer with an error status: JSON of any shape, plain text or a page of HTML. */
export function readErrorBody(body: string, status: number): UpstreamError {
  const parsed = tryParseJson(body)
  if (parsed) return { ...readErrorValue(parsed.value), status }
  const text = body
    .replace(/<[^>]*>/g, " ")
    .replace(/\s+/g, " ")
    .trim()
  return { message: text || "no explanation", status }
}

/**
 * Reads an error object: `{error: {message, type, code}}` (OpenAI, Anthropic), `[{error}]` (Gemini),
 * `{error: "…"}` (Ollama), `{message}` (Mistral), `{detail}` (FastAPI servers), `{errors: [{message}]}` (Cloudflare).
 */
export function readErrorValue(value: unknown): UpstreamError {
  if (typeof value === "string") return { message: value }
  if (Array.isArray(value)) return readErrorValue(value[0])
  if (!isObject(value)) return { message: "no explanation" }
  const inner = value.error ?? (Array.isArray(value.errors) ? value.errors[0] : undefined)
  if (typeof inner === "string" || isObject(inner)) return readErrorValue(inner)
  const text = value.message ?? value.detail ?? value.msg
  const error: UpstreamError = {
    message: withInnermost(typeof text === "string" ? text : JSON.stringify(text ?? value), value),
  }
  const type = value.type ?? value.status
  if (typeof type === "string") error.type = type
  if (typeof value.code === "string") error.code = value.code
  // OpenRouter and Groq put the HTTP status of their own upstream into the stream.
  const status = Number(value.code ?? value.status_code ?? value.status)
  if (Number.isInteger(status) && status >= 400 && status < 600) error.status = status
  return error
}

/** OpenRouter says "Provider returned error" and keeps the provider's own words in `metadata.raw`. */
function withInnermost(message: string, value: Record<string, unknown>): string {
  const raw = isObject(value.metadata) ? value.metadata.raw : undefined
  if (typeof raw !== "string" || raw === "") return message
  const parsed = tryParseJson(raw)
  return `${message}: ${parsed ? readErrorValue(parsed.value).message : raw}`
}
