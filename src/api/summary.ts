/** Routes of the summary that stands for the folded part of a chat. */
import { Elysia } from "elysia"
import type { FoldResult } from "../context/compaction/compaction.ts"
import { KernelError } from "../lib/error.ts"
import { Chat } from "../schema/chat.ts"
import { Folded, SetCompactProfile, SetSummary, Summary } from "../schema/summary.ts"
import { describe, json } from "./describe.ts"
import type { ApiParts } from "./parts.ts"

type SummaryParts = Pick<ApiParts, "chats" | "summaries" | "folds">

export function summaryRoutes(parts: SummaryParts) {
  const { chats, summaries, folds } = parts
  return new Elysia({ prefix: "/v1/chats/:id" })
    .get("/summary", ({ params }) => summaryOf(parts, params.id), READ)
    .put(
      "/summary",
      ({ params, body }) => {
        summaries.setText(params.id, body.text)
        return summaryOf(parts, params.id)
      },
      REPLACE,
    )
    .put(
      "/compact-profile",
      ({ params, body }) => chats.setCompactProfile(params.id, body.profile),
      PROFILE,
    )
    .post(
      "/compact",
      ({ params, request: { signal } }) =>
        byHand(parts, params.id, (id) => folds.fold(id, { signal })),
      FOLD,
    )
    .post(
      "/summary/rebuild",
      ({ params, request: { signal } }) =>
        byHand(parts, params.id, (id) => folds.rebuild(id, { signal })),
      REBUILD,
    )
}

function summaryOf({ summaries }: SummaryParts, chatId: string): Summary {
  const past = summaries.get(chatId)
  if (!past) return { text: null, upto: null, verbatim: [] }
  return { text: past.text, upto: past.upto, verbatim: [...past.verbatim] }
}

/** A turn that runs has its own view of the history, and folds it itself. */
async function byHand(
  { chats }: SummaryParts,
  chatId: string,
  work: (chatId: string) => Promise<FoldResult>,
): Promise<Folded> {
  if (chats.get(chatId).running) {
    throw new KernelError(
      "conflict",
      "a turn runs in this chat; wait for its end or cancel it first",
    )
  }
  const result = await work(chatId)
  if (result.folded) {
    return { folded: true, messages: result.messages, freed_tokens: result.freedTokens }
  }
  if (result.failed) throw new KernelError("unavailable", result.reason)
  return { folded: false, messages: 0, freed_tokens: 0, reason: result.reason }
}

const READ = {
  detail: describe({
    tag: "chats",
    summary: "Read the summary of a chat",
    description: "What stands in prompts for the folded part of its history.",
    answers: { 200: json(Summary, "The summary; without a text when nothing is folded") },
    problems: ["not_found"],
  }),
}

const REPLACE = {
  body: SetSummary,
  detail: describe({
    tag: "chats",
    summary: "Replace the summary of a chat",
    description: "Only where something is folded.",
    example: { text: "We plan the garden; the oak stays." },
    answers: { 200: json(Summary, "The summary as it is now") },
    problems: ["conflict", "invalid", "not_found", "unprocessable"],
  }),
}

const PROFILE = {
  body: SetCompactProfile,
  detail: describe({
    tag: "chats",
    summary: "Choose how soon a chat is folded",
    description: "null: by what the chat is.",
    example: { profile: "high" },
    answers: { 200: json(Chat, "The chat as it is now") },
    problems: ["invalid", "not_found", "unprocessable"],
  }),
}

const FOLD = {
  detail: describe({
    tag: "chats",
    summary: "Fold a chat now",
    description:
      "All but the newest message of a person and what followed it. The messages stay stored and searchable.",
    answers: { 200: json(Folded, "What was folded, or why nothing was") },
    problems: ["conflict", "not_found", "unavailable"],
  }),
}

const REBUILD = {
  detail: describe({
    tag: "chats",
    summary: "Write the summary of a chat anew",
    description: "Out of the folded messages themselves.",
    answers: { 200: json(Folded, "Out of how many messages, or why not") },
    problems: ["conflict", "not_found", "unavailable"],
  }),
}
