/** Routes by which a client answers what was asked of its machine, and by which a module reads from there. */
import { Elysia } from "elysia"
import { isObject } from "../lib/json.ts"
import { BytesPiece, OpProgress, OpResult, ReadBytes, Taken } from "../schema/client-op.ts"
import { describe, json } from "./describe.ts"
import type { ApiParts } from "./parts.ts"

export function opRoutes({ chats, turns }: Pick<ApiParts, "chats" | "turns">) {
  return new Elysia({ prefix: "/v1/chats/:id/ops" })
    .post(
      "/result",
      ({ params, body }) => {
        turns.opResult(params.id, body)
        return { id: body.id }
      },
      RESULT,
    )
    .post(
      "/progress",
      ({ params, body }) => {
        turns.opProgress(params.id, body)
        return { id: body.id }
      },
      PROGRESS,
    )
    .post(
      "/read_bytes",
      ({ params, body, request, server }) => {
        // Its user may have to be asked first.
        server?.timeout(request, 0)
        return turns.readClientBytes(chats.get(params.id).id, body)
      },
      READ_BYTES,
    )
}

const ANYWHERE =
  "It is found by its id alone: the chat in the path need not be the one where it was asked. `op_id` may be said for `id`."

/** Who answers by the name that the event has for it is understood, too. */
const idFromOpId = ({ body }: { body: unknown }): void => {
  if (!isObject(body) || body.op_id === undefined || body.id !== undefined) return
  body.id = body.op_id
  delete body.op_id
}

const RESULT = {
  body: OpResult,
  transform: idFromOpId,
  detail: describe({
    tag: "requests",
    summary: "Answer a client operation or the call of an extra tool",
    description: `${ANYWHERE} \`decision: "deny"\` without \`error\` is a refusal by the user.`,
    example: { id: "OP_ID", output: "ok", decision: "allow" },
    answers: { 200: json(Taken, "The answer is taken") },
    problems: ["not_found", "unprocessable", "too_large"],
  }),
}

const PROGRESS = {
  body: OpProgress,
  transform: idFromOpId,
  detail: describe({
    tag: "requests",
    summary: "Show what a long operation has printed so far",
    description: `${ANYWHERE} Each snapshot replaces the one before; its last 8 KiB are shown, with secrets masked, and nothing of it is stored. A few a second are enough.`,
    example: { id: "OP_ID", output: "compiling …" },
    answers: { 200: json(Taken, "The snapshot is taken") },
    problems: ["not_found", "unprocessable", "too_large"],
  }),
}

const READ_BYTES = {
  body: ReadBytes,
  detail: describe({
    tag: "requests",
    summary: "Read a piece of a file from the machine of the running turn's client",
    description:
      "For modules. It is the operation `read_bytes`: that client, and its user, decide about it. 409 when no turn runs here whose client carries out operations.",
    example: { path: "shot.png", offset: 0, size: 65_536 },
    answers: { 200: json(BytesPiece, "The piece, and the size of the whole file") },
    problems: ["invalid", "not_found", "conflict", "unprocessable", "unavailable"],
  }),
}
