/**
 * From anything thrown to the one error reply: `{ error, code, path? }`. The table below is the only place
 * that knows an HTTP status. A fault shows a number to look up in the log, never its text or its stack.
 */
import { type ErrorCode, errorText, KernelError } from "../lib/error.ts"
import type { NewId } from "../lib/id.ts"
import type { Log } from "../lib/log.ts"
import type { Problem } from "../schema/problem.ts"

/** Codes of the domain, and the one that only HTTP knows. */
export type ProblemCode = ErrorCode | "method_not_allowed"

export const PROBLEM_STATUS: Readonly<Record<ProblemCode, number>> = {
  invalid: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  too_large: 413,
  unprocessable: 422,
  busy: 429,
  internal: 500,
  config: 500,
  unavailable: 503,
}

export function problemReply(
  code: ProblemCode,
  error: string,
  options: { path?: string | undefined; headers?: Record<string, string> } = {},
): Response {
  const body: Problem = { error, code, ...(options.path !== undefined && { path: options.path }) }
  return Response.json(body, { status: PROBLEM_STATUS[code], headers: options.headers ?? {} })
}

/** The reply to an expected failure; a fault is logged under an id that the reply bears. */
export function replyToThrown(thrown: unknown, tools: { log: Log; newId: NewId }): Response {
  if (thrown instanceof KernelError && thrown.code !== "internal") {
    return problemReply(thrown.code, thrown.message, { path: thrown.path })
  }
  const id = tools.newId()
  tools.log.error("request failed", {
    request_id: id,
    error: errorText(thrown),
    stack: thrown instanceof Error ? thrown.stack : undefined,
  })
  return problemReply("internal", `internal error ${id}; the log says more under this id`)
}
