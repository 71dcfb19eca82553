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
      detail: setting({
        summary: "Move a chat to a shelf",
        description: "null or empty: the inbox, `default`.",
        example: { folder: "garden" },
      }),
    })
    .put("/model", ({ params, body }) => chats.setModel(params.id, body.model), {
      body: SetModel,
      detail: setting({
        summary: "Choose the model of a chat",
        description: "null: the general model of the settings.",
        example: { model: null },
      }),
    })
    .put("/effort", ({ params, body }) => chats.setEffort(params.id, body.effort), {
      body: SetEffort,
      detail: setting({
        summary: "Choose how hard the model thinks in a chat",
        description: "null: the model's own.",
        example: { effort: "high" },
      }),
    })
    .put("/toolset", ({ params, body }) => chats.setToolset(params.id, body.toolset), {
      body: SetToolset,
      detail: setting({
        summary: "Pin a tool set to a chat",
        description: "null: no set.",
        example: { toolset: null },
      }),
    })
    .put("/workdir", ({ params, body }) => chats.setWorkdir(params.id, body), {
      body: SetWorkdir,
      detail: setting({
        summary: "Set the working directory of a chat",
        description: "null or empty clears it. It holds from the next turn on.",
        example: { workdir: "/home/me/code" },
      }),
    })
    .put("/attention", ({ params, body }) => chats.patch(params.id, attentionOf(body)), {
      body: SetAttention,
      detail: setting({
        summary: "Call for the owner's attention in a chat, or stop calling",
        example: { needs: true, reason: "The disk is full" },
      }),
    })
}

const setting = (text: { summary: string; description?: string; example: object }) =>
  describe({
    ...text,
    tag: "chats",
    answers: { 200: json(Chat, "The chat as it is now") },
    problems: ["invalid", "not_found", "unprocessable"],
  })

function attentionOf({ needs, reason }: SetAttention) {
  return needs
    ? { needs_attention: true, attention_reason: reason ?? null }
    : { needs_attention: false }
}
