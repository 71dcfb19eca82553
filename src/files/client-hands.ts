/** Files of the machine that the turn's client sits at, over client operations. */
import { Type } from "@sinclair/typebox"
import { Value } from "@sinclair/typebox/value"
import { tryParseJson } from "../lib/json.ts"
import { FIND_BYTES_MAX, OP_TIMEOUT_MS } from "../schema/client-op.ts"
import { type ToolContext, ToolFailure } from "../tools/tool.ts"
import { absolutePath } from "./absolute-path.ts"
import { type Ask, CLIENT, clientFiles, readClientPiece } from "./client-files.ts"
import type { BytesWanted, FilePiece, FoundBytes, Hands, PieceAt } from "./hands.ts"

export function clientHands(
  context: Pick<ToolContext, "clientOp">,
  cwd: string | undefined,
): Hands {
  const ask: Ask = (op) => context.clientOp(op, { timeoutMs: OP_TIMEOUT_MS })
  return {
    name: CLIENT,
    on: "client",
    whole: clientFiles(context),
    parallel: 1,
    searchBytesMax: FIND_BYTES_MAX,
    resolve: (path) => absolutePath(path, { cwd }),
    read: (path, piece) => read(ask, path, piece),
    find: (path, wanted) => find(ask, path, wanted),
    // There is no operation for it, and the client names neighbours itself.
    list: async () => undefined,
  }
}

async function read(ask: Ask, path: string, piece: PieceAt): Promise<FilePiece> {
  const told = await readClientPiece(ask, path, piece)
  if (told) return told
  const all = Buffer.from(await ask({ action: "read", path }))
  return {
    total: all.length,
    bytes: all.subarray(piece.offset, piece.offset + piece.size),
    isText: true,
  }
}

const Found = Type.Object({ total: Type.Integer(), offsets: Type.Array(Type.Integer()) })

/** Asked again for each part of a file that the client looks through at once. */
async function find(
  ask: Ask,
  path: string,
  { bytes, offset, limit, signal }: BytesWanted,
): Promise<FoundBytes> {
  const data = Buffer.from(bytes).toString("base64")
  const offsets: number[] = []
  let total = offset + 1
  for (let at = offset; at < total && offsets.length < limit; at += FIND_BYTES_MAX) {
    signal.throwIfAborted()
    const left = limit - offsets.length
    const answer = await ask({ action: "find_bytes", path, data, offset: at, limit: left })
    const found = tryParseJson(answer)?.value
    if (!Value.Check(Found, found)) {
      throw new ToolFailure(`the client answered find_bytes of ${path} with something else`)
    }
    total = found.total
    // One that looks further than it must tells the same places again.
    const last = offsets.at(-1) ?? -1
    offsets.push(...found.offsets.filter((place) => place > last))
  }
  return { total, offsets }
}
