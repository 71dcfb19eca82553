/** Routes of the notebook that the agent keeps in a chat: read, written, looked at, rebuilt, brought back. */
import { Elysia } from "elysia"
import { KernelError } from "../lib/error.ts"
import { LookAtNotes, Notebook, NotebookRebuilt, NoteDeleted, PutNote } from "../schema/note.ts"
import { describe, json } from "./describe.ts"
import type { ApiParts } from "./parts.ts"

type NoteParts = Pick<ApiParts, "notebook" | "noteRebuilds">

export function noteRoutes(parts: NoteParts) {
  const { notebook } = parts
  return new Elysia({ prefix: "/v1/chats/:id/notes" })
    .get("", ({ params }) => notebook.list(params.id), LIST)
    .put(
      "/:name",
      ({ params: { id, name }, body }) => {
        notebook.save(id, name, body)
        return notebook.list(id)
      },
      PUT,
    )
    .delete(
      "/:name",
      ({ params: { id, name } }) => ({ deleted: notebook.remove(id, name) }),
      DELETE,
    )
    .post(
      "/seen",
      ({ params, body }) => {
        notebook.look(params.id, body.at === undefined ? undefined : Date.parse(body.at))
        return notebook.list(params.id)
      },
      SEEN,
    )
    .post(
      "/compact",
      ({ params, request: { signal } }) => rebuild(parts, params.id, signal),
      REBUILD,
    )
    .post(
      "/restore",
      ({ params }) => {
        notebook.restore(params.id)
        return notebook.list(params.id)
      },
      RESTORE,
    )
}

async function rebuild(
  { notebook, noteRebuilds }: NoteParts,
  chatId: string,
  signal: AbortSignal,
): Promise<NotebookRebuilt> {
  const { notes: before } = notebook.list(chatId)
  const result = await noteRebuilds.now({ chatId, signal })
  if (result.rebuilt) return { rebuilt: true, ...result.size }
  if (result.failed) throw new KernelError("unavailable", result.reason)
  const chars = before.reduce((sum, { body }) => sum + body.length, 0)
  return { rebuilt: false, notes: before.length, chars, reason: result.reason }
}

const LIST = {
  detail: describe({
    tag: "chats",
    summary: "Read the notebook of a chat",
    description:
      "With each note's body before its last change, and a mark on what was written since somebody looked at it. Read it again when a turn is done.",
    answers: { 200: json(Notebook, "All notes") },
    problems: ["not_found"],
  }),
}

const PUT = {
  body: PutNote,
  detail: describe({
    tag: "chats",
    summary: "Write a note",
    description:
      "A new one needs description and body; of one that is there, what is left out stays. Limits are those of the agent's own notes.",
    example: { description: "how the project is built", body: "make all", pinned: true },
    answers: { 200: json(Notebook, "The notebook as it is now") },
    problems: ["invalid", "not_found", "unprocessable", "too_large"],
  }),
}

const DELETE = {
  detail: describe({
    tag: "chats",
    summary: "Delete a note",
    answers: { 200: json(NoteDeleted, "Whether there was one") },
    problems: ["not_found"],
  }),
}

const SEEN = {
  body: LookAtNotes,
  detail: describe({
    tag: "chats",
    summary: "Say that the notebook was looked at",
    description: "Notes written before are not marked as changed any more, for every client.",
    example: {},
    answers: { 200: json(Notebook, "The notebook as it is now") },
    problems: ["not_found", "unprocessable"],
  }),
}

const REBUILD = {
  detail: describe({
    tag: "chats",
    summary: "Rebuild the notebook of a chat now",
    description:
      "A model merges what belongs together and drops what is finished. The old notebook can be restored.",
    answers: { 200: json(NotebookRebuilt, "What it became, or why it stayed as it was") },
    problems: ["not_found", "unavailable"],
  }),
}

const RESTORE = {
  detail: describe({
    tag: "chats",
    summary: "Take back the last rebuild of the notebook",
    description:
      "The present notebook becomes the older one, so that a second call undoes the first.",
    answers: { 200: json(Notebook, "The notebook as it is now") },
    problems: ["not_found"],
  }),
}
