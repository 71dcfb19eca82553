/** A drawable piece of a conversation: one model for the live turn, its replay and the history. */
import { type Static, Type } from "@sinclair/typebox"
import { CLIENT_OP_FIELDS } from "./client-op.ts"
import { PlanTasks } from "./plan.ts"
import { ResolutionReason } from "./resolution.ts"

export const ItemStatus = Type.Union(
  ["running", "completed", "failed", "aborted"].map((status) => Type.Literal(status)),
)
export type ItemStatus = "running" | "completed" | "failed" | "aborted"

const base = {
  id: Type.String({ description: "{message_id}:{n} in history, {turn_id}:{n} live" }),
  status: Type.Unsafe<ItemStatus>(ItemStatus),
  turn_id: Type.Union([Type.String(), Type.Null()]),
}

export const ToolCallResult = Type.Object({ output: Type.String(), is_error: Type.Boolean() })

export const ITEM_KINDS = {
  user_message: Type.Object({
    ...base,
    kind: Type.Literal("user_message"),
    text: Type.String(),
    master: Type.Boolean(),
    created_at: Type.String(),
    sender: Type.Optional(Type.String()),
    images: Type.Optional(Type.Array(Type.String(), { description: "Image ids" })),
    ext_id: Type.Optional(Type.String()),
    reply_to_ext_id: Type.Optional(Type.String()),
    reply_to_text: Type.Optional(Type.String()),
  }),
  agent_message: Type.Object({
    ...base,
    kind: Type.Literal("agent_message"),
    text: Type.String(),
    model: Type.Optional(Type.String()),
    created_at: Type.Optional(Type.String()),
    closes: Type.Optional(Type.Array(Type.String())),
  }),
  thinking: Type.Object({ ...base, kind: Type.Literal("thinking"), text: Type.String() }),
  tool_call: Type.Object({
    ...base,
    kind: Type.Literal("tool_call"),
    call_id: Type.String(),
    name: Type.String(),
    input: Type.Unknown(),
    progress: Type.Optional(Type.String()),
    result: Type.Optional(ToolCallResult),
  }),
  client_op: Type.Object(
    {
      ...base,
      kind: Type.Literal("client_op"),
      op_id: Type.String(),
      ...CLIENT_OP_FIELDS,
      resolution: Type.Optional(ResolutionReason),
    },
    { description: "Live only: an operation is not a part of the history" },
  ),
  image: Type.Object({
    ...base,
    kind: Type.Literal("image"),
    image_id: Type.String(),
    media_type: Type.String(),
    url: Type.String(),
  }),
  compaction: Type.Object({ ...base, kind: Type.Literal("compaction") }),
  plan: Type.Object(
    { ...base, kind: Type.Literal("plan"), tasks: PlanTasks },
    { description: "Live only: a plan is a state of the chat and not a part of its history" },
  ),
  machine_note: Type.Object({
    ...base,
    kind: Type.Literal("machine_note"),
    note: Type.String({ description: "The id of the machine-text kind, such as fork_marker" }),
    text: Type.String(),
  }),
} as const

export const Item = Type.Union(Object.values(ITEM_KINDS))
export type Item = {
  [K in keyof typeof ITEM_KINDS]: Static<(typeof ITEM_KINDS)[K]>
}[keyof typeof ITEM_KINDS]
export type ItemKind = Item["kind"]

export const ItemPage = Type.Object({
  items: Type.Array(Item, { description: "Oldest first; an empty page is the end" }),
})
