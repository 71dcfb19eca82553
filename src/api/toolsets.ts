/** Routes of tool sets and skills, for the menus of clients. */
import { Elysia } from "elysia"
import { SkillList } from "../schema/skill.ts"
import { ToolsetList } from "../schema/toolset.ts"
import { describe, json } from "./describe.ts"
import type { ApiParts } from "./parts.ts"

export function toolsetRoutes({ toolsets, skills }: Pick<ApiParts, "toolsets" | "skills">) {
  return new Elysia({ prefix: "/v1" })
    .get("/toolsets", () => ({ toolsets: toolsets.list() }), {
      detail: describe({
        tag: "kernel",
        summary: "List tool sets",
        description: "Pin one to a chat with PUT /v1/chats/{id}/toolset.",
        answers: { 200: json(ToolsetList, "All of them, by name") },
      }),
    })
    .get("/skills", () => ({ skills: skills.list() }), {
      detail: describe({
        tag: "kernel",
        summary: "List skills",
        answers: { 200: json(SkillList, "All of them, by name, without their texts") },
      }),
    })
}
