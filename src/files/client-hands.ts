/** Files of the machine that the turn's client sits at, over client operations. */
import { Type } from "@sinclair/typebox"
import { Value } from "@sinclair/typebox/value"
import { tryParseJson } from "../lib/json.ts"
import { BytesPiece, type ClientOp, OP_TIMEOUT_MS, UNKNOWN_OP_ACTION } from "../schema/client-op.ts"
import { type ToolContext, ToolFailure } from "../tools/tool.ts"
import { absolutePath } from "./absolute-path.ts"
import { clientFiles } from "./client-files.ts"
import type { BytesWanted, FilePiece, FoundBytes, Hands, PieceAt } from "./hands.ts"
import { CLIENT } from "./patch-machines.ts"

/** A client looks through so much of a file, and so much of one is carried here. */
export const CLIENT_SEARCH_BYTES = 32 * 1024 * 1024

type Ask = (op: ClientOp) => Promise<string>

const Found = Type.Object({ total: Type.Integer(), offsets: Type.Array(Type.Integer()) })

export function clientHands(
  context: Pick<ToolContext, "clientOp">,
  cwd: string | undefined,
): Hands {
  const ask: Ask = (op) => context.clientOp(op, { timeoutMs: OP_TIMEOUT_MS })
  return {
    name: CLIENT,
    on: "client",
    searchBytesMax: CLIENT_SEARCH_BYTES,
    whole: clientFiles(context),
    resolve: (path) => absolutePath(path, { cwd }),
    read: (path, piece) => read(ask, path, piece),
    find: (path, wanted) => find(ask, path, wanted),
    // There is no operation for it, and the client names neighbours itself.
    list: async () => undefined,
  }
}

async function read(ask: Ask, path: string, { offset, size }: PieceAt): Promise<FilePiece> {
  let answer: string
  try {
    answer = await ask({ action: "read_bytes", path, offset, size })
  } catch (error) {
    if (!isUnknown(error)) throw error
    // A client that reads texts only.
    const all = Buffer.from(await ask({ action: "read", path }))
    return { total: all.length, bytes: all.subarray(offset, offset + size) }
  }
  const piece = tryParseJson(answer)?.value
  if (!Value.Check(BytesPiece, piece)) throw somethingElse("read_bytes", path)
  return { total: piece.total, bytes: Buffer.from(piece.data, "base64") }
}

async function find(ask: Ask, path: string, wanted: BytesWanted): Promise<FoundBytes> {
  const { bytes, offset, limit } = wanted
  const data = Buffer.from(bytes).toString("base64")
  const answer = await ask({ action: "find_bytes", path, data, offset, limit })
  const found = tryParseJson(answer)?.value
  if (!Value.Check(Found, found)) throw somethingElse("find_bytes", path)
  return found
}

const isUnknown = (error: unknown): boolean =>
  error instanceof ToolFailure && error.message.includes(UNKNOWN_OP_ACTION)

const somethingElse = (action: string, path: string): ToolFailure =>
  new ToolFailure(`the client answered ${action} of ${path} with something else`)
