/** Routes that set one property of a chat. Each answers the chat as it is now; null clears. */
import { Elysia } from "elysia"
import type { Chats } from "../chats/chats.ts"
import { Chat } from "../schema/chat.ts"
import {
  SetAttention,
  SetEffort,
  SetFolder,
  SetModel,
  SetToolset,
  SetWorkdir,
} from "../schema/chat-settings.ts"
import { describe, json } from "./describe.ts"

export function chatSettingRoutes(chats: Chats) {
  return new Elysia({ prefix: "/v1/chats/:id" })
    .put("/folder", ({ params, body }) => chats.setFolder(params.id, body.folder), {
      body: SetFolder,
      detail: setting("Move a chat to a shelf", "null or empty: the inbox, `default`."),
    })
    .put("/model", ({ params, body }) => chats.setModel(params.id, body.model), {
      body: SetModel,
      detail: setting("Choose the model of a chat", "null: the general model of the settings."),
    })
    .put("/effort", ({ params, body }) => chats.setEffort(params.id, body.effort), {
      body: SetEffort,
      detail: setting("Choose how hard the model thinks in a chat", "null: the model's own."),
    })
    .put("/toolset", ({ params, body }) => chats.setToolset(params.id, body.toolset), {
      body: SetToolset,
      detail: setting("Pin a tool set to a chat", "null: no set."),
    })
    .put("/workdir", ({ params, body }) => chats.setWorkdir(params.id, body), {
      body: SetWorkdir,
      detail: setting(
        "Set the working directory of a chat",
        "null or empty clears it. It holds from the next turn on.",
      ),
    })
    .put("/attention", ({ params, body }) => chats.patch(params.id, attentionOf(body)), {
      body: SetAttention,
      detail: setting("Call for the owner's attention in a chat, or stop calling"),
    })
}

const setting = (summary: string, description?: string) =>
  describe({
    tag: "chats",
    summary,
    ...(description !== undefined && { description }),
    answers: { 200: json(Chat, "The chat as it is now") },
    problems: ["invalid", "not_found", "unprocessable"],
  })

function attentionOf({ needs, reason }: SetAttention) {
  return needs
    ? { needs_attention: true, attention_reason: reason ?? null }
    : { needs_attention: false }
}
