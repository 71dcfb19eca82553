/** Routes of memories. Who comes through the door is the owner: private records are his. */
import { Elysia } from "elysia"
import { KernelError } from "../lib/error.ts"
import { type Audience, type Memories, OWNER } from "../memory/memories.ts"
import { toMemory } from "../memory/record.ts"
import {
  ArchiveQuery,
  DeleteQuery,
  MEMORY_KINDS,
  Memory,
  MemoryArchive,
  MemoryHits,
  MemoryList,
  MemoryPatch,
  MemoryPrompt,
  MemoryQuery,
  MemorySearch,
  NewMemory,
  PromptQuery,
  SavedMemory,
} from "../schema/memory.ts"
import { describe, json, takesQuery } from "./describe.ts"

/** The master where others may read along. */
const OUTSIDE: Audience = { master: true, trusted: false }

const audienceOf = (query: { public?: string }): Audience =>
  query.public === "true" ? OUTSIDE : OWNER

export function memoryRoutes(memories: Memories) {
  return new Elysia({ prefix: "/v1/memories" })
    .get("", ({ query }) => listOf(memories, query), LIST)
    .post("", ({ body }) => memories.save(body, OWNER), SAVE)
    .get(
      "/search",
      async ({ query }) => ({
        memories: await memories.search(
          {
            text: query.q,
            limit: query.limit ?? SEARCH_LIMIT,
            reinforce: query.reinforce !== "false",
          },
          audienceOf(query),
        ),
      }),
      SEARCH,
    )
    .get(
      "/prompt",
      ({ query }) => memories.explain(query.q ?? "", audienceOf(query), query.explain === "true"),
      PROMPT,
    )
    .get(
      "/archive",
      ({ query: { limit = 50, offset = 0 } }) => ({
        memories: memories.archived({ limit, offset }),
      }),
      ARCHIVE,
    )
    .post("/archive/:id/restore", ({ params }) => memories.restore(idOf(params.id)), RESTORE)
    .get("/:id", ({ params }) => memories.get(idOf(params.id), OWNER), READ)
    .patch("/:id", ({ params, body }) => memories.update(idOf(params.id), body, OWNER), PATCH)
    .delete(
      "/:id",
      async ({ params, query, status }) => {
        if (query.purge === "true") await memories.purge(idOf(params.id))
        else memories.forget(idOf(params.id), { by: "api" })
        return status(204, undefined)
      },
      DELETE,
    )
}

const SEARCH_LIMIT = 8

function listOf(memories: Memories, query: MemoryQuery) {
  const kind = MEMORY_KINDS.find((one) => one === query.kind)
  if (query.kind !== undefined && kind === undefined) {
    throw new KernelError("invalid", `kind is one of ${MEMORY_KINDS.join(", ")}`, { path: "kind" })
  }
  const page = memories.list(
    { kind, sinceDays: query.since_days, before: query.before, limit: query.limit ?? 50 },
    OWNER,
  )
  return { memories: page.memories.map(toMemory), next_before: page.nextBefore ?? null }
}

/** Whatever is no number is the id of nothing. */
const idOf = (text: string): number => (/^[1-9]\d{0,14}$/.test(text) ? Number(text) : 0)

const LIST = {
  ...takesQuery(MemoryQuery),
  detail: describe({
    tag: "memories",
    summary: "List memories",
    answers: { 200: json(MemoryList, "One page, newest first") },
    problems: ["invalid"],
  }),
}

const SAVE = {
  body: NewMemory,
  detail: describe({
    tag: "memories",
    summary: "Remember something",
    description:
      "A record that says the same is reinforced instead, unless `dedup` is false. The reply shows what is near.",
    example: { content: "Anna's birthday is on 7 May", kind: "fact", importance: 4 },
    answers: { 200: json(SavedMemory, "The record") },
    problems: ["invalid", "unprocessable", "too_large"],
  }),
}

const SEARCH = {
  ...takesQuery(MemorySearch),
  detail: describe({
    tag: "memories",
    summary: "Search memories",
    description:
      "Ranked as the tool memory_search ranks, which never gives `core`: that stands in every prompt.",
    answers: { 200: json(MemoryHits, "Best first, with the parts of each score") },
    problems: ["invalid"],
  }),
}

const PROMPT = {
  ...takesQuery(PromptQuery),
  detail: describe({
    tag: "memories",
    summary: "See what a turn would be reminded of",
    description:
      "The section of the prompt as a turn with this message carries it. Nothing is reinforced.",
    answers: { 200: json(MemoryPrompt, "The section") },
    problems: ["invalid"],
  }),
}

const ARCHIVE = {
  ...takesQuery(ArchiveQuery),
  detail: describe({
    tag: "memories",
    summary: "List what was forgotten",
    answers: { 200: json(MemoryArchive, "One page, last forgotten first") },
    problems: ["invalid"],
  }),
}

const RESTORE = {
  detail: describe({
    tag: "memories",
    summary: "Bring a memory back from the archive",
    answers: { 200: json(Memory, "The record, under the id it had") },
    problems: ["not_found"],
  }),
}

const READ = {
  detail: describe({
    tag: "memories",
    summary: "Read a memory",
    answers: { 200: json(Memory, "The record") },
    problems: ["not_found"],
  }),
}

const PATCH = {
  body: MemoryPatch,
  detail: describe({
    tag: "memories",
    summary: "Correct a memory",
    example: { importance: 5 },
    answers: { 200: json(Memory, "The record as it is now") },
    problems: ["invalid", "not_found", "unprocessable"],
  }),
}

const DELETE = {
  query: DeleteQuery,
  detail: describe({
    tag: "memories",
    summary: "Forget a memory",
    description:
      "It goes to the archive and can come back. `purge=true` erases it from there as well, and its bytes from the file.",
    answers: { 204: { description: "Forgotten" } },
    problems: ["not_found"],
  }),
}
