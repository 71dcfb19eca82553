/** Routes of chats: made, listed, set up, binned, branched, cleared. */
import { Elysia } from "elysia"
import {
  Chat,
  ChatList,
  ChatPatch,
  ChatQuery,
  FolderList,
  ForkChat,
  NewChat,
} from "../schema/chat.ts"
import { FolderQuery } from "../schema/chat-settings.ts"
import { ContextReport } from "../schema/context-report.ts"
import { ChatSpend } from "../schema/stats.ts"
import { describe, json, takesQuery } from "./describe.ts"
import type { ApiParts } from "./parts.ts"

type ChatParts = Pick<ApiParts, "chats" | "spend" | "turns">

export function chatRoutes(parts: ChatParts) {
  const { chats } = parts
  return new Elysia({ prefix: "/v1/chats" })
    .get("", ({ query }) => ({ chats: chats.list(query) }), LIST)
    .get("/folders", ({ query }) => ({ folders: chats.folders(query) }), FOLDERS)
    .post("", ({ body }) => chats.create(body), CREATE)
    .get("/:id", ({ params }) => chats.get(params.id), READ)
    .patch("/:id", ({ params, body }) => chats.patch(params.id, body), PATCH)
    .delete(
      "/:id",
      async ({ params }) => {
        await chats.remove(params.id)
        return chats.get(params.id)
      },
      DELETE,
    )
    .post("/:id/restore", ({ params }) => chats.restore(params.id), RESTORE)
    .post(
      "/:id/clear",
      async ({ params }) => {
        await chats.clear(params.id)
        return chats.get(params.id)
      },
      CLEAR,
    )
    .post("/:id/fork", ({ params, body }) => chats.fork(params.id, body), FORK)
    .get("/:id/spend", ({ params }) => spendOf(parts, params.id), SPEND)
    .get("/:id/context", ({ params }) => contextOf(parts, params.id), CONTEXT)
}

function spendOf({ chats, spend, turns }: ChatParts, chatId: string) {
  const tokens = chats.contextAnchor(chatId)?.tokens ?? 0
  return spend.ofChat(chatId, { tokens, prefix_tokens: turns.prefixTokens(chatId) })
}

async function contextOf({ spend, turns }: ChatParts, chatId: string) {
  return { ...(await turns.contextReport(chatId)), last_trip: spend.lastTrip(chatId) }
}

const LIST = {
  ...takesQuery(ChatQuery),
  detail: describe({
    tag: "chats",
    summary: "List chats",
    description:
      "The chat with the newest message first. Chats of a surface, quiet shelves and sub-agents' chats " +
      "appear only when they are asked for.",
    answers: { 200: json(ChatList, "One page") },
    problems: ["invalid"],
  }),
}

const FOLDERS = {
  query: FolderQuery,
  detail: describe({
    tag: "chats",
    summary: "List shelves",
    description: "Quiet ones too. Without `surface` only ordinary chats count.",
    answers: { 200: json(FolderList, "All shelves") },
  }),
}

const CREATE = {
  body: NewChat,
  detail: describe({
    tag: "chats",
    summary: "Make a chat",
    description: "An empty body is fine.",
    example: { title: "First steps" },
    answers: { 200: json(Chat, "The new chat") },
    problems: ["invalid", "unprocessable", "too_large"],
  }),
}

const READ = {
  detail: describe({
    tag: "chats",
    summary: "Read a chat",
    answers: { 200: json(Chat, "The chat, also one in the bin") },
    problems: ["not_found"],
  }),
}

const PATCH = {
  body: ChatPatch,
  detail: describe({
    tag: "chats",
    summary: "Rename a chat, clear its call for attention, name its project",
    example: { title: "A better name" },
    answers: { 200: json(Chat, "The chat as it is now") },
    problems: ["invalid", "not_found", "unprocessable"],
  }),
}

const DELETE = {
  detail: describe({
    tag: "chats",
    summary: "Put a chat into the bin",
    description: "Its turns are cancelled. It can be restored.",
    answers: { 200: json(Chat, "The chat, with `deleted_at`") },
    problems: ["not_found"],
  }),
}

const RESTORE = {
  detail: describe({
    tag: "chats",
    summary: "Take a chat out of the bin",
    answers: { 200: json(Chat, "The chat") },
    problems: ["not_found"],
  }),
}

const CLEAR = {
  detail: describe({
    tag: "chats",
    summary: "Erase all messages of a chat",
    description: "Cannot be undone. Running turns are stopped first.",
    answers: { 200: json(Chat, "The empty chat") },
    problems: ["not_found"],
  }),
}

const FORK = {
  body: ForkChat,
  detail: describe({
    tag: "chats",
    summary: "Branch a chat",
    description:
      "A new chat with a copy of everything strictly before a message; the parent stays as it is.",
    example: { before_message: "MESSAGE_ID" },
    answers: { 200: json(Chat, "The branch") },
    problems: ["invalid", "not_found", "unprocessable"],
  }),
}

const SPEND = {
  detail: describe({
    tag: "chats",
    summary: "What a chat cost, and what its context weighs",
    answers: { 200: json(ChatSpend, "Sums of all its trips to providers") },
    problems: ["not_found"],
  }),
}

const CONTEXT = {
  detail: describe({
    tag: "chats",
    summary: "What fills the prompt of a chat",
    description:
      "The request that the master's next message would make from a trusted place, before it is said: each piece of the system part, each tool, the history as it is shown, and what is told anew each time.",
    answers: { 200: json(ContextReport, "Bytes and tokens, piece by piece") },
    problems: ["not_found"],
  }),
}
