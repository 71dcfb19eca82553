/** How streams of events are asked for. */
import { type Static, Type } from "@sinclair/typebox"
import { SEND_LIMITS } from "./send.ts"

const mute = Type.Optional(
  Type.String({
    description:
      "Event types to leave out, separated by commas. Unknown names do nothing; done and error always come",
  }),
)
const since = Type.Optional(
  Type.Integer({ minimum: 0, description: "The `seq` of the last event that was seen" }),
)

export const LiveQuery = Type.Object({ mute, since })
export type LiveQuery = Static<typeof LiveQuery>

export const FeedQuery = Type.Object({
  chats: Type.Optional(
    Type.String({ description: "Ids separated by commas; * or absent: every chat" }),
  ),
  since,
  mute,
})
export type FeedQuery = Static<typeof FeedQuery>

export const FeedHeaders = Type.Object({
  "last-event-id": Type.Optional(
    Type.String({ description: "What a browser sends when it connects again; `since` wins" }),
  ),
})

export const SendHeaders = Type.Object({
  "idempotency-key": Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: SEND_LIMITS.clientKey,
      description: "The same as client_key in the body",
    }),
  ),
})

/** Opens a feed whose position is no longer known. */
export const ResetEvent = Type.Object(
  { type: Type.Literal("reset"), seq: Type.Integer() },
  { description: "The position is gone: read items again, and go on from this seq" },
)
