/**
 * The events of a live stream. Each is one JSON object with a `type`; on the wire the kernel adds `seq`
 * (kernel-wide, increasing), `chat_id`, `turn_id`, and `replayed: true` when it comes from the log.
 */
import { type Static, type TProperties, Type } from "@sinclair/typebox"
import { CLIENT_OP_FIELDS } from "./client-op.ts"
import { Item } from "./item.ts"
import { PlanTasks } from "./plan.ts"
import { Resolution } from "./resolution.ts"
import { RateLimit, Usage } from "./usage.ts"

const event = <T extends string, P extends TProperties>(
  type: T,
  properties: P,
  description: string,
) => Type.Object({ type: Type.Literal(type), ...properties }, { description })

const PLAN_CHANGED = event(
  "plan",
  { tasks: PlanTasks },
  "The plan of the work at hand changed: all of it, empty when it is closed. Never a part of the history",
)

export const TURN_EVENTS = {
  accepted: event(
    "accepted",
    { message_ids: Type.Array(Type.String()), queued: Type.Boolean() },
    "The messages are on disk and the turn is admitted",
  ),
  queued: event("queued", {}, "The turn waits for an earlier turn of this chat"),
  sleeping: event("sleeping", {}, "The turn waits until the kernel wakes"),
  turn_started: event(
    "turn_started",
    { model: Type.String(), effort: Type.String() },
    "The turn runs",
  ),
  text_delta: event("text_delta", { text: Type.String() }, "The next piece of the answer"),
  thinking_delta: event("thinking_delta", { text: Type.String() }, "The next piece of a thought"),
  tool_call: event(
    "tool_call",
    { id: Type.String(), name: Type.String(), input: Type.Unknown() },
    "The model calls a tool",
  ),
  tool_result: event(
    "tool_result",
    { id: Type.String(), output: Type.String(), is_error: Type.Boolean() },
    "What the tool answered",
  ),
  tool_progress: event(
    "tool_progress",
    { id: Type.String(), output: Type.String() },
    "A snapshot of a running tool; it replaces the one before and is never stored",
  ),
  client_op: event(
    "client_op",
    { op_id: Type.String(), ...CLIENT_OP_FIELDS },
    "The client is to do something on its machine and to post the result under `op_id`; a replayed one is drawn, never executed",
  ),
  extra_tool_call: event(
    "extra_tool_call",
    { id: Type.String(), name: Type.String(), input: Type.Unknown() },
    "The client is to run a tool that it declared and to post the result under the `id` of this call; a replayed one is drawn, never executed",
  ),
  request_resolved: event(
    "request_resolved",
    Resolution.properties,
    "A request to the client is settled, whoever settled it: close its dialog. It may come behind `done`",
  ),
  image: event(
    "image",
    { id: Type.String(), media_type: Type.String(), url: Type.String() },
    "A picture drawn by the model",
  ),
  retry: event(
    "retry",
    {
      reason: Type.String(),
      wait_ms: Type.Integer(),
      attempt: Type.Integer(),
      model: Type.String(),
    },
    "The provider failed and is asked again after a pause",
  ),
  fallback: event(
    "fallback",
    { from: Type.String(), to: Type.String(), reason: Type.String() },
    "Another model takes over the turn",
  ),
  usage: event(
    "usage",
    {
      ...Usage.properties,
      model: Type.String(),
      rate_limits: Type.Optional(Type.Array(RateLimit)),
    },
    "What one provider trip consumed",
  ),
  compacting: event("compacting", {}, "Old history is being folded into a summary"),
  turn_squeezed: event(
    "turn_squeezed",
    { freed_chars: Type.Integer() },
    "Old tool traffic of the running turn was collapsed",
  ),
  plan: PLAN_CHANGED,
  item_started: event("item_started", { item: Item }, "A drawable item begins"),
  item_delta: event(
    "item_delta",
    {
      id: Type.String(),
      delta: Type.Object({
        text: Type.Optional(Type.String({ description: "Appended to the item's text" })),
        progress: Type.Optional(Type.String({ description: "Replaces the item's progress" })),
        tasks: Type.Optional(PlanTasks),
      }),
    },
    "An item grows",
  ),
  item_completed: event(
    "item_completed",
    { item: Item },
    "The final, authoritative state of an item",
  ),
  error: event(
    "error",
    { message: Type.String(), code: Type.String(), retryable: Type.Boolean() },
    "The turn failed",
  ),
  done: event("done", { reason: Type.String() }, "The turn is over and stored"),
} as const

export const TurnEvent = Type.Union(Object.values(TURN_EVENTS))
export type TurnEvent = {
  [K in keyof typeof TURN_EVENTS]: Static<(typeof TURN_EVENTS)[K]>
}[keyof typeof TURN_EVENTS]
export type TurnEventType = TurnEvent["type"]

/** Changes of the chat list, carried by the one-stream feed beside turn events. */
export const CHAT_EVENTS = {
  chat_created: event("chat_created", {}, "A chat appeared"),
  chat_changed: event(
    "chat_changed",
    {},
    "Title, shelf, model or another property of a chat changed",
  ),
  chat_deleted: event("chat_deleted", {}, "A chat went to the bin or was reaped"),
  chat_restored: event("chat_restored", {}, "A chat came back from the bin"),
  plan: PLAN_CHANGED,
  messages_changed: event(
    "messages_changed",
    { reason: Type.String() },
    "Stored messages changed outside a turn (silent message, rewind, clear): read them again",
  ),
  message_silent: event(
    "message.silent",
    { message_ids: Type.Array(Type.String()) },
    "Messages were stored without a turn",
  ),
} as const
export type ChatEvent = {
  [K in keyof typeof CHAT_EVENTS]: Static<(typeof CHAT_EVENTS)[K]>
}[keyof typeof CHAT_EVENTS]

export type LiveEvent = TurnEvent | ChatEvent

/** What stands around an event on a wire. */
export interface Envelope {
  seq: number
  chat_id: string
  turn_id?: string
  event: LiveEvent
}

/** Events that no client can mute: without them it cannot know how the turn ended. */
export const UNMUTABLE: readonly string[] = ["done", "error"]
