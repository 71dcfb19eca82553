/** The route by which a module reads from the kernel's own machine. Its neighbour in `ops.ts` asks the client's. */
import { Elysia } from "elysia"
import { BytesPiece, ReadBytes } from "../schema/client-op.ts"
import { describe, json } from "./describe.ts"
import type { ApiParts } from "./parts.ts"

export const kernelBytesRoutes = ({ files }: Pick<ApiParts, "files">) =>
  new Elysia().post("/v1/ops/read_bytes", ({ body }) => files.readBytes(body), READ_BYTES)

const READ_BYTES = {
  body: ReadBytes,
  detail: describe({
    tag: "requests",
    summary: "Read a piece of a file of the kernel's own machine",
    description:
      "For modules. Nobody is asked, and nothing can be written this way. A path that is not absolute counts from the home of the kernel's user.",
    example: { path: "/srv/pictures/shot.png", offset: 0, size: 65_536 },
    answers: { 200: json(BytesPiece, "The piece, and the size of the whole file") },
    problems: ["invalid", "not_found", "unprocessable"],
  }),
}
