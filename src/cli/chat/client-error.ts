/** What a client tells its user when the kernel, or the way to it, says no. */

export type ClientErrorCode =
  /** No answer: nothing listens, the connection broke, it took too long. It may work a moment later. */
  | "unreachable"
  /** Something answers there, but no eva-kernel. */
  | "no_kernel"
  /** What is asked makes no sense here, decided without asking the kernel. */
  | "usage"
  /** A code of the kernel's own: `not_found`, `invalid` … */
  | (string & {})

/** The message is one sentence for the user; `path` is the field that the kernel complains about. */
export class ClientError extends Error {
  override readonly name = "ClientError"
  readonly code: ClientErrorCode
  readonly path: string | undefined

  constructor(
    code: ClientErrorCode,
    message: string,
    options: { path?: string | undefined; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause })
    this.code = code
    this.path = options.path
  }

  /** Whether the same request may succeed later without any change. */
  get passes(): boolean {
    return this.code === "unreachable" || this.code === "unavailable"
  }
}

/** One line, whatever was thrown. */
export function sentenceOf(thrown: unknown): string {
  const text = thrown instanceof Error ? thrown.message : String(thrown)
  return text.split("\n", 1)[0] || "something went wrong"
}
