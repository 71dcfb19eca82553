/** How a request of the kernel to its client was settled: an operation, an extra tool's call or a question. */
import { type Static, Type } from "@sinclair/typebox"

/**
 * `answered`: an answer was taken · `expired`: its time is over · `turn_ended`: the turn went to its end
 * without it · `cancelled`: the turn was cancelled.
 */
export const RESOLUTION_REASONS = ["answered", "expired", "turn_ended", "cancelled"] as const
export type ResolutionReason = (typeof RESOLUTION_REASONS)[number]

/** `permission` is kept free for requests that are granted in part; the kernel does not send it. */
export const REQUEST_KINDS = ["op", "question", "permission"] as const
export type RequestKind = (typeof REQUEST_KINDS)[number]

export const ResolutionReason = Type.Unsafe<ResolutionReason>(
  Type.Union(RESOLUTION_REASONS.map((reason) => Type.Literal(reason))),
)

export const Resolution = Type.Object({
  id: Type.String({
    description: "The `op_id` of an operation, else the id of the tool call that asks",
  }),
  kind: Type.Unsafe<RequestKind>(
    Type.Union(
      REQUEST_KINDS.map((kind) => Type.Literal(kind)),
      { description: "`op`: an operation or an extra tool's call. `permission` is reserved" },
    ),
  ),
  reason: ResolutionReason,
  question: Type.Optional(
    Type.Integer({ description: "The place of a question in its call, from 0" }),
  ),
})
export type Resolution = Static<typeof Resolution>
