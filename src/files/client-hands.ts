/** Files of the machine that the turn's client sits at, over client operations. */
import { OP_TIMEOUT_MS } from "../schema/client-op.ts"
import type { ToolContext } from "../tools/tool.ts"
import { absolutePath } from "./absolute-path.ts"
import { type Ask, CLIENT, clientFiles, readClientPiece } from "./client-files.ts"
import type { FilePiece, Hands, PieceAt } from "./hands.ts"

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
    resolve: (path) => absolutePath(path, { cwd }),
    read: (path, piece) => read(ask, path, piece),
    // There is no operation for it, and the client names neighbours itself.
    list: async () => undefined,
  }
}

async function read(ask: Ask, path: string, piece: PieceAt): Promise<FilePiece> {
  const told = await readClientPiece(ask, path, piece)
  if (told) return told
  const all = Buffer.from(await ask({ action: "read", path }))
  return { total: all.length, bytes: all.subarray(piece.offset, piece.offset + piece.size) }
}
