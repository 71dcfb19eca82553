/** Routes of the plan of the work at hand in a chat. */
import { Elysia } from "elysia"
import { Plan, PlanDeleted } from "../schema/plan.ts"
import { describe, json } from "./describe.ts"
import type { ApiParts } from "./parts.ts"

export function planRoutes({ chats, plans }: Pick<ApiParts, "chats" | "plans">) {
  return new Elysia({ prefix: "/v1/chats/:id" })
    .get("/plan", ({ params }) => ({ tasks: plans.ofChat(chats.get(params.id).id) }), READ)
    .delete("/plan", ({ params }) => ({ deleted: plans.erase(chats.get(params.id).id) }), DELETE)
}

const READ = {
  detail: describe({
    tag: "chats",
    summary: "Read the plan of a chat",
    description:
      "For the first picture of it; every change comes as the event `plan`, with the whole plan.",
    answers: { 200: json(Plan, "Its tasks; none when there is no plan") },
    problems: ["not_found"],
  }),
}

const DELETE = {
  detail: describe({
    tag: "chats",
    summary: "Erase the plan of a chat",
    answers: { 200: json(PlanDeleted, "Whether there was one") },
    problems: ["not_found"],
  }),
}
