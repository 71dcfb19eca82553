/** Routes of files that turns wrote: the list, and the undo. */
import { Elysia } from "elysia"
import { FilesRestored, FileWriters, RestoreFiles } from "../schema/files.ts"
import { describe, json } from "./describe.ts"
import type { ApiParts } from "./parts.ts"

export function fileRoutes({ chats, files }: Pick<ApiParts, "chats" | "files">) {
  return new Elysia({ prefix: "/v1/chats/:id/files" })
    .get("", ({ params }) => ({ writers: files.writers(chats.get(params.id).id) }), LIST)
    .post("/restore", ({ params, body }) => files.restore(chats.get(params.id).id, body), RESTORE)
}

const LIST = {
  detail: describe({
    tag: "turns",
    summary: "List the files that turns wrote",
    description:
      "As far as their former content is kept (settings `files.checkpoint_*`). Undos are listed as well.",
    answers: { 200: json(FileWriters, "Turns and undos, the newest first") },
    problems: ["not_found"],
  }),
}

const RESTORE = {
  body: RestoreFiles,
  detail: describe({
    tag: "turns",
    summary: "Undo what a turn wrote to files",
    description:
      "Files that the turn made are removed, files that it changed or removed get their former content. " +
      "A file that was changed since is left alone and listed, unless `force` is set. The undo can be " +
      "undone: send its `restore_id`. Files of the client's machine are answered for the client to write.",
    example: {},
    answers: { 200: json(FilesRestored, "What was done, file by file") },
    problems: ["not_found", "conflict", "unprocessable"],
  }),
}
