/** The route by which a surface brings the answer to a question of `ask_questions`. */
import { Elysia } from "elysia"
import { Taken } from "../schema/client-op.ts"
import { QuestionAnswer } from "../schema/question.ts"
import { describe, json } from "./describe.ts"
import type { ApiParts } from "./parts.ts"

export const questionRoutes = ({ chats, turns }: Pick<ApiParts, "chats" | "turns">) =>
  new Elysia({ prefix: "/v1/chats/:id/questions" }).post(
    "/answer",
    async ({ params, body }) => ({
      id: await turns.questionAnswer(chats.get(params.id).id, body),
    }),
    ANSWER,
  )

const ANSWER = {
  body: QuestionAnswer,
  detail: describe({
    tag: "requests",
    summary: "Answer a question with buttons",
    description:
      "`question` is its place in the call and stays the same whatever was answered before. Without `call_id` the earliest call that waits in this chat is meant.",
    example: { question: 0, answer: "Yes" },
    answers: { 200: json(Taken, "The answer is taken; `id` is that of the call") },
    problems: ["invalid", "not_found", "unprocessable", "too_large"],
  }),
}
