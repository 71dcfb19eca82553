/** The one error class of the kernel, and what it means on each edge. */

export const ERROR_CODES = [
  "invalid", // the request was understood and cannot be done as asked: 400
  "unauthorized", // no token or a wrong one: 401
  "forbidden", // the door refuses: 403
  "not_found", // no such thing: 404
  "conflict", // the thing is in a state that forbids it: 409
  "too_large", // a body, image or field over its limit: 413
  "unprocessable", // the body does not fit its schema: 422
  "busy", // a queue is full, try again later: 429
  "internal", // a fault of ours: 500
  "unavailable", // the upstream or the kernel cannot serve now: 503
  "config", // the configuration is wrong: exit code 2
] as const
export type ErrorCode = (typeof ERROR_CODES)[number]

/**
 * An expected failure with a sentence for whoever asked. `path` names the field of a body or the key of
 * the configuration that is wrong. Anything else that is thrown is a fault and shows no text outside.
 */
export class KernelError extends Error {
  override readonly name = "KernelError"
  readonly code: ErrorCode
  readonly path: string | undefined

  constructor(code: ErrorCode, message: string, options: { path?: string; cause?: unknown } = {}) {
    super(message, { cause: options.cause })
    this.code = code
    this.path = options.path
  }
}

export const notFound = (what: string, id: string): KernelError =>
  new KernelError("not_found", `no ${what} with id ${id}`)

/** A programmer's error: the state is impossible. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${message}`)
}

export function unreachable(value: never): never {
  throw new Error(`unreachable: ${String(value)}`)
}

/** The text of anything thrown, innermost cause last. */
export function errorText(thrown: unknown): string {
  const parts: string[] = []
  let current: unknown = thrown
  for (let depth = 0; depth < 8 && current !== undefined && current !== null; depth++) {
    const text = current instanceof Error ? current.message || current.name : String(current)
    if (text && !parts.includes(text)) parts.push(text)
    current = current instanceof Error ? current.cause : undefined
  }
  return parts.join(": ")
}
