/** Routes of messages: read by pages, said, taken back. */
import { Elysia } from "elysia"
import { KernelError } from "../lib/error.ts"
import { HistoryQuery, Rewound } from "../schema/history.ts"
import { ItemPage } from "../schema/item.ts"
import { MessagePage } from "../schema/message.ts"
import { Send, SilentReply } from "../schema/send.ts"
import { SendHeaders } from "../schema/stream.ts"
import { describe, json, takesQuery } from "./describe.ts"
import { EVENT_LIST, TURN_STREAM } from "./event-schemas.ts"
import { type FollowParts, sendAndFollow } from "./follow.ts"
import type { ApiParts } from "./parts.ts"

type MessageParts = Pick<ApiParts, "chats" | "messages" | "items" | "turns"> & FollowParts

export function messageRoutes(parts: MessageParts) {
  const { chats, messages, items, turns } = parts
  return new Elysia({ prefix: "/v1/chats/:id" })
    .get(
      "/messages",
      ({ params, query }) => {
        const chat = chats.get(params.id)
        return { messages: messages.page(chat.id, query) }
      },
      MESSAGES,
    )
    .get(
      "/items",
      ({ params, query }) => {
        const chat = chats.get(params.id)
        return { items: items.itemPage(chat.id, query) }
      },
      ITEMS,
    )
    .post(
      "/messages",
      async ({ params, body, headers, request, server, status }) => {
        const send = withKey(body, headers["idempotency-key"])
        if (send.silent) return status(202, turns.silent(params.id, send))
        server?.timeout(request, 0)
        const options = { mute: send.mute, request }
        return await sendAndFollow(parts, { chatId: params.id, send }, options)
      },
      SEND,
    )
    .delete(
      "/messages/:message_id",
      async ({ params }) => ({ deleted: await chats.rewind(params.id, params.message_id) }),
      REWIND,
    )
}

/** The header and the field say the same thing; when both are there they must agree. */
function withKey(send: Send, key: string | undefined): Send {
  if (key === undefined) return send
  if (send.client_key === undefined || send.client_key === key) return { ...send, client_key: key }
  throw new KernelError("invalid", "client_key and the header Idempotency-Key differ: give one", {
    path: "client_key",
  })
}

const MESSAGES = {
  ...takesQuery(HistoryQuery),
  detail: describe({
    tag: "messages",
    summary: "Read stored messages",
    answers: { 200: json(MessagePage, "The newest, or those before or around a message") },
    problems: ["invalid", "not_found"],
  }),
}

const ITEMS = {
  ...takesQuery(HistoryQuery),
  detail: describe({
    tag: "messages",
    summary: "Read the history as drawable items",
    description:
      "`limit` counts source messages, and a message gives several items or none: only an empty page " +
      "is the end. `before` and `around` take the id of an item or of a message.",
    answers: { 200: json(ItemPage, "The same items that a live stream draws") },
    problems: ["invalid", "not_found"],
  }),
}

const SEND = {
  body: Send,
  headers: SendHeaders,
  detail: describe({
    tag: "messages",
    summary: "Say something and follow the answer",
    description: `Answers a stream of server-sent events, one JSON object each, that ends with \`done\` or \`error\`. The turn goes on when the stream is closed; \`/live\` joins it again.\n\n${EVENT_LIST}`,
    example: { text: "Hello!" },
    answers: {
      200: { description: "The turn", schema: TURN_STREAM, type: "text/event-stream" },
      202: json(SilentReply, "`silent`: stored, and no turn"),
    },
    problems: ["invalid", "not_found", "conflict", "too_large", "unprocessable", "busy"],
  }),
}

const REWIND = {
  detail: describe({
    tag: "messages",
    summary: "Take a message back, and everything after it",
    description: "Cannot be undone; a branch keeps both. Running turns are stopped first.",
    answers: { 200: json(Rewound, "What is gone") },
    problems: ["invalid", "not_found"],
  }),
}
