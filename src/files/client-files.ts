/**
 * Whole files of the machine that the turn's client sits at, over client operations. That wire knows reading
 * and writing only: nothing is removed there, and whether a file is there has to be found out.
 */
import { posix } from "node:path"
import { Type } from "@sinclair/typebox"
import { Value } from "@sinclair/typebox/value"
import { tryParseJson } from "../lib/json.ts"
import {
  BytesPiece,
  type ClientOp,
  OP_TIMEOUT_MS,
  PIECE_BYTES_MAX,
  UNKNOWN_OP_ACTION,
} from "../schema/client-op.ts"
import { type ToolContext, ToolFailure } from "../tools/tool.ts"
import type { FilePiece, PieceAt } from "./hands.ts"
import type { DiskFile } from "./local-disk.ts"
import type { WholeFiles } from "./whole-files.ts"

/** As answers and checkpoints name the machine. */
export const CLIENT = "client"

export type Ask = (op: ClientOp) => Promise<string>

/** Larger files are not for a patch. */
const FILE_BYTES_MAX = 32 * 1024 * 1024

const CANNOT_REMOVE =
  "the client's machine only reads and writes; remove or move it with local_shell (rm, mv)"

/** Paths are sent as they are: the client resolves what is not absolute. */
export function clientFiles({ clientOp }: Pick<ToolContext, "clientOp">): WholeFiles {
  const ask: Ask = (op) => clientOp(op, { timeoutMs: OP_TIMEOUT_MS })
  return {
    cannotRemove: CANNOT_REMOVE,
    kindOf: async (path) => {
      const there = (await isThere(ask, path)) ?? (await isReadable(ask, path))
      return there ? "file" : "absent"
    },
    read: async (path) => ((await isThere(ask, path)) === false ? undefined : readWhole(ask, path)),
    write: (path, bytes, { expectSha256 } = {}) =>
      write(ask, path, {
        bytes,
        ...(expectSha256 !== undefined && { expect_sha256: expectSha256 }),
      }),
    writeAt: async (path, { offset, data, truncate }, { expectSha256 }) => {
      await ask({
        ...{ action: "write_bytes", path, offset, truncate },
        data: Buffer.from(data).toString("base64"),
        ...(expectSha256 !== undefined && { expect_sha256: expectSha256 }),
      })
    },
    remove: async () => {
      throw new ToolFailure(CANNOT_REMOVE)
    },
  }
}

const Levels = Type.Object({
  dirs: Type.Array(Type.Object({ dir: Type.String(), found: Type.Array(Type.String()) })),
})

/** By `list_up`, which asks nobody; undefined when the client does not know it. */
async function isThere(ask: Ask, path: string): Promise<boolean | undefined> {
  const name = posix.basename(path)
  const answer = await unlessRefused(
    ask({ action: "list_up", path: posix.dirname(path), names: [name] }),
  )
  return answer === undefined ? undefined : listedLevels(answer)?.[0]?.found.includes(name)
}

/** What a client answered to `list_up`; undefined for something else. */
export function listedLevels(answer: string) {
  const listed = tryParseJson(answer)?.value
  return Value.Check(Levels, listed) ? listed.dirs : undefined
}

/** A refusal counts as absent, too: the write behind it is then for a new file alone. */
const isReadable = async (ask: Ask, path: string): Promise<boolean> =>
  (await unlessRefused(readWhole(ask, path))) !== undefined

async function unlessRefused<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof ToolFailure) return undefined
    throw error
  }
}

async function readWhole(ask: Ask, path: string): Promise<DiskFile> {
  const pieces: Uint8Array[] = []
  let [offset, total] = [0, 1]
  while (offset < total) {
    const piece = await readClientPiece(ask, path, { offset, size: PIECE_BYTES_MAX })
    if (piece === undefined) return { bytes: Buffer.from(await ask({ action: "read", path })) }
    total = piece.total
    if (total > FILE_BYTES_MAX) {
      throw new ToolFailure(`${path} has ${total} bytes; the most for a patch is ${FILE_BYTES_MAX}`)
    }
    if (piece.bytes.length === 0) break
    pieces.push(piece.bytes)
    offset += piece.bytes.length
  }
  return { bytes: Buffer.concat(pieces) }
}

/** Undefined for a client that reads texts only. */
export async function readClientPiece(
  ask: Ask,
  path: string,
  piece: PieceAt,
): Promise<FilePiece | undefined> {
  let answer: string
  try {
    answer = await ask({ action: "read_bytes", path, ...piece })
  } catch (error) {
    if (error instanceof ToolFailure && error.message.includes(UNKNOWN_OP_ACTION)) return undefined
    throw error
  }
  const read = tryParseJson(answer)?.value
  if (!Value.Check(BytesPiece, read)) {
    throw new ToolFailure(`the client answered read_bytes of ${path} with something else`)
  }
  return { total: read.total, bytes: Buffer.from(read.data, "base64") }
}

interface NewContent {
  bytes: Uint8Array
  expect_sha256?: string | null
}

/** As a text where it is one, so that the client can show what changes. */
async function write(ask: Ask, path: string, { bytes, ...expected }: NewContent): Promise<void> {
  const text = Buffer.from(bytes).toString()
  if (Buffer.from(text).equals(bytes)) {
    await ask({ action: "write", path, content: text, ...expected })
    return
  }
  const data = Buffer.from(bytes).toString("base64")
  await ask({ action: "write_bytes", path, offset: 0, data, truncate: true, ...expected })
}
