/** The body of a send: what somebody said, and how the turn that answers it is set up. */
import { type Static, Type } from "@sinclair/typebox"
import { Effort } from "./effort.ts"

/** Limits of one send; a body past them is refused before anything is stored. */
export const SEND_LIMITS = {
  textChars: 1_000_000,
  batch: 200,
  images: 50,
  clientKey: 64,
  extId: 200,
  extraTools: 50,
  /** Seconds that a turn waits for an extra tool at the most, and when its declaration says nothing. */
  extraToolSeconds: 900,
  extraToolDefaultSeconds: 120,
} as const

const ExtId = Type.String({ maxLength: SEND_LIMITS.extId })

export const NewImage = Type.Object(
  {
    media_type: Type.Optional(Type.String({ description: "Detected from the bytes when absent" })),
    data: Type.String({ description: "The picture in base64" }),
  },
  { additionalProperties: false },
)
export type NewImage = Static<typeof NewImage>

const speech = {
  text: Type.Optional(Type.String({ maxLength: SEND_LIMITS.textChars })),
  sender: Type.Optional(
    Type.String({ description: "Person id such as p7; absent means the master" }),
  ),
  images: Type.Optional(Type.Array(NewImage, { maxItems: SEND_LIMITS.images })),
  ext_id: Type.Optional(ExtId),
  reply_to_ext_id: Type.Optional(ExtId),
  reply_to_text: Type.Optional(Type.String({ maxLength: SEND_LIMITS.textChars })),
}

export const BatchMessage = Type.Object(
  { ...speech, at: Type.Optional(Type.String({ description: "When it was said, ISO 8601" })) },
  { additionalProperties: false },
)
export type BatchMessage = Static<typeof BatchMessage>

/** A tool that lives for one turn and is run by the client that declared it. */
export const ExtraTool = Type.Object(
  {
    name: Type.String({ pattern: "^[A-Za-z0-9_-]{1,64}$" }),
    description: Type.String({ maxLength: 10_000 }),
    input_schema: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    timeout_secs: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        description: `How long the turn waits for its answer; ${SEND_LIMITS.extraToolDefaultSeconds} when absent, ${SEND_LIMITS.extraToolSeconds} at the most`,
      }),
    ),
    ends_turn: Type.Optional(Type.Boolean({ description: "A successful call closes the turn" })),
  },
  { additionalProperties: false },
)
export type ExtraTool = Static<typeof ExtraTool>

export const Send = Type.Object(
  {
    ...speech,
    batch: Type.Optional(
      Type.Array(BatchMessage, {
        minItems: 1,
        maxItems: SEND_LIMITS.batch,
        description: "Several people's messages, stored in order and answered by one turn",
      }),
    ),
    silent: Type.Optional(Type.Boolean({ description: "Store only, start no turn: answers 202" })),
    client_key: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: SEND_LIMITS.clientKey,
        description:
          "Makes the send idempotent for a day; the header Idempotency-Key means the same",
      }),
    ),
    trusted: Type.Optional(Type.Boolean({ description: "The turn comes from a trusted place" })),
    guest: Type.Optional(Type.Boolean({ description: "Not the master's turn, whoever sends it" })),
    privileged: Type.Optional(
      Type.Boolean({ description: "The sender is on the surface's allow list" }),
    ),
    model: Type.Optional(Type.String({ description: "Model of this turn" })),
    effort: Type.Optional(Effort),
    surface_model: Type.Optional(Type.String({ description: "Weaker than the chat's own model" })),
    surface_effort: Type.Optional(Effort),
    max_tokens: Type.Optional(Type.Integer({ minimum: 1 })),
    uncapped_iterations: Type.Optional(
      Type.Boolean({ description: "Honoured for trusted clients" }),
    ),
    context: Type.Optional(
      Type.String({ description: "System addendum, honoured for trusted clients" }),
    ),
    anchor: Type.Optional(
      Type.String({ maxLength: 1000, description: "The surface's opaque handle" }),
    ),
    chat_title: Type.Optional(Type.String({ description: "How the surface names this chat" })),
    brief: Type.Optional(Type.Boolean({ description: "Ask for a short answer" })),
    tools: Type.Optional(
      Type.Array(Type.String(), { description: "Only these tool names and groups are in reach" }),
    ),
    toolset: Type.Optional(
      Type.Union([Type.String({ minLength: 1 }), Type.Null()], {
        description: "The tool set of this turn alone; null: none. The chat keeps its own",
      }),
    ),
    client_ops: Type.Optional(
      Type.Boolean({
        description:
          "This client carries out client operations for the turn; honoured for trusted clients",
      }),
    ),
    project_docs: Type.Optional(
      Type.Boolean({
        description:
          "This client answers `list_up`, so the kernel gathers project files by itself and `context` need not hold them",
      }),
    ),
    extra_tools: Type.Optional(
      Type.Array(ExtraTool, {
        maxItems: SEND_LIMITS.extraTools,
        description: "Tools for this turn, which this client runs",
      }),
    ),
    mute: Type.Optional(
      Type.Array(Type.String(), { description: "Event types to leave out of this stream" }),
    ),
  },
  { additionalProperties: false },
)
export type Send = Static<typeof Send>

export const SilentReply = Type.Object({
  message_ids: Type.Array(Type.String()),
})
