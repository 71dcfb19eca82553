/** A message is a list of blocks. The same shape is stored in a JSON column and sent on the wire. */
import { type Static, Type } from "@sinclair/typebox"

export const TextBlock = Type.Object({ type: Type.Literal("text"), text: Type.String() })
export type TextBlock = Static<typeof TextBlock>

/** A thought. `provider`, `model` and `signature` say who may be shown it again, and only within its turn. */
export const ThinkingBlock = Type.Object({
  type: Type.Literal("thinking"),
  text: Type.String(),
  provider: Type.Optional(Type.String()),
  model: Type.Optional(Type.String()),
  signature: Type.Optional(Type.String()),
  redacted: Type.Optional(
    Type.String({
      description: "The provider's own encrypted form of a thought that it does not show",
    }),
  ),
})
export type ThinkingBlock = Static<typeof ThinkingBlock>

/** A picture by id; the bytes live in the image store. */
export const ImageBlock = Type.Object({
  type: Type.Literal("image"),
  id: Type.String(),
  media_type: Type.String(),
})
export type ImageBlock = Static<typeof ImageBlock>

export const ToolUseBlock = Type.Object({
  type: Type.Literal("tool_use"),
  id: Type.String({ description: "The id of the call; its result bears the same id" }),
  name: Type.String(),
  input: Type.Unknown({ description: "The arguments, an object" }),
  raw: Type.Optional(
    Type.String({
      description: "The arguments as the model wrote them, kept when they are not JSON",
    }),
  ),
})
export type ToolUseBlock = Static<typeof ToolUseBlock>

export const ToolResultBlock = Type.Object({
  type: Type.Literal("tool_result"),
  id: Type.String({ description: "The id of the call that this answers" }),
  output: Type.String(),
  is_error: Type.Boolean(),
  uneventful: Type.Optional(
    Type.Literal(true, { description: "The tool found or did nothing: it leaves prompts first" }),
  ),
})
export type ToolResultBlock = Static<typeof ToolResultBlock>

export const Block = Type.Union([
  TextBlock,
  ThinkingBlock,
  ImageBlock,
  ToolUseBlock,
  ToolResultBlock,
])
export type Block = Static<typeof Block>

export const Role = Type.Union([Type.Literal("user"), Type.Literal("assistant")])
export type Role = Static<typeof Role>

export const Message = Type.Object({
  id: Type.String({ format: "uuid", description: "UUIDv7: ids sort in the order of the chat" }),
  chat_id: Type.String(),
  turn_id: Type.Union([Type.String(), Type.Null()], {
    description: "All messages of one turn share it; null for a message that started no turn",
  }),
  role: Role,
  blocks: Type.Array(Block),
  created_at: Type.String({ format: "date-time" }),
  master: Type.Boolean({ description: "The master's own message, or one of his turn" }),
  sender: Type.Optional(Type.String({ description: "Id of the person who wrote it, such as p7" })),
  model: Type.Optional(Type.String({ description: "The model that wrote an assistant message" })),
  anchor: Type.Optional(
    Type.String({ description: "The surface's opaque handle of what is answered" }),
  ),
  ext_id: Type.Optional(Type.String({ description: "The surface's own id of this message" })),
  reply_to_ext_id: Type.Optional(Type.String()),
  reply_to_text: Type.Optional(Type.String()),
  closes: Type.Optional(
    Type.Array(Type.String(), {
      description: "ext_ids that an answer closed by its trailing ↩ line",
    }),
  ),
})
export type Message = Static<typeof Message>

export const MessagePage = Type.Object({
  messages: Type.Array(Message, { description: "Oldest first within the page" }),
})
export type MessagePage = Static<typeof MessagePage>
