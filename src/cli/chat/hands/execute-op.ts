/** Carries out one client operation on this machine. What it answers is what `schema/client-op.ts` says. */
import { createHash } from "node:crypto"
import { open, readdir, stat } from "node:fs/promises"
import { dirname, join } from "node:path"
import { readWhole, writeWhole } from "../../../files/local-disk.ts"
import type { NewId } from "../../../lib/id.ts"
import { type ClientOp, UNKNOWN_OP_ACTION } from "../../../schema/client-op.ts"
import { pathOf } from "./place.ts"
import { runCommands } from "./run-commands.ts"

export interface OpPlace {
  cwd: string
  /** Of commands that are run. */
  environment: Record<string, string>
  signal: AbortSignal
  onProgress(output: string): void
  newId: NewId
}

type OpOf<A extends ClientOp["action"]> = Extract<ClientOp, { action: A }>

/** A file that is handled as a whole: read as text, or written into. */
const WHOLE_BYTES_MAX = 64 * 1024 * 1024
/** One piece of a file; whoever wants more asks again. */
const PIECE_BYTES_MAX = 4 * 1024 * 1024
/** Of a file so many bytes are searched by one operation. */
const SEARCH_BYTES_MAX = 32 * 1024 * 1024
const SEARCH_PIECE_BYTES = 1024 * 1024
/** Levels that are looked at from a folder upwards. */
const LEVELS_MAX = 64

/** Rejects with the reason, in words for the model. */
export async function executeOp(op: ClientOp, place: OpPlace): Promise<string> {
  switch (op.action) {
    case "read":
      return readText(pathOf(op.path, place.cwd))
    case "write":
      return writeText(op, place)
    case "shell":
      return runCommands(op, place)
    case "read_bytes":
      return JSON.stringify(await readPiece(pathOf(op.path, place.cwd), op))
    case "write_bytes":
      return JSON.stringify(await writePiece(op, place))
    case "find_bytes":
      return JSON.stringify(await findBytes(op, place))
    case "list_up":
      return JSON.stringify(await listUp(pathOf(op.path, place.cwd), op.names))
    default:
      throw new Error(UNKNOWN_OP_ACTION)
  }
}

async function readText(path: string): Promise<string> {
  await checkSize(path)
  const file = await readWhole(path).catch(inWords(path))
  if (!file) throw await noSuchFile(path)
  return Buffer.from(file.bytes).toString()
}

async function writeText(op: OpOf<"write">, { cwd, newId }: OpPlace): Promise<string> {
  const path = pathOf(op.path, cwd)
  const before = await readWhole(path).catch(inWords(path))
  checkUnchanged(before?.bytes, op.expect_sha256, path)
  const bytes = Buffer.from(op.content)
  await writeWhole({ path, bytes, newId }).catch(inWords(path))
  return `${before ? "replaced" : "made"} ${path}, ${bytes.length} bytes`
}

async function readPiece(path: string, { offset, size }: OpOf<"read_bytes">) {
  const file = await open(path, "r").catch(async (error: unknown) => {
    throw isAbsent(error) ? await noSuchFile(path) : wordsOf(error, path)
  })
  try {
    const found = await file.stat()
    if (!found.isFile())
      throw new Error(`${path} is ${found.isDirectory() ? "a folder" : "no regular file"}`)
    const left = Math.max(0, found.size - offset)
    const piece = Buffer.alloc(Math.min(size, left, PIECE_BYTES_MAX))
    const { bytesRead } = await file.read(piece, 0, piece.length, offset)
    return { total: found.size, data: piece.subarray(0, bytesRead).toString("base64") }
  } finally {
    await file.close()
  }
}

async function writePiece(op: OpOf<"write_bytes">, { cwd, newId }: OpPlace) {
  const path = pathOf(op.path, cwd)
  await checkSize(path)
  const before = (await readWhole(path).catch(inWords(path)))?.bytes
  checkUnchanged(before, op.expect_sha256, path)
  const old = before ?? new Uint8Array()
  if (op.offset > old.length) {
    throw new Error(`${path} has ${old.length} bytes: writing at ${op.offset} would leave a hole`)
  }
  const data = Buffer.from(op.data, "base64")
  const rest = op.truncate ? new Uint8Array() : old.subarray(op.offset + data.length)
  const bytes = Buffer.concat([old.subarray(0, op.offset), data, rest])
  await writeWhole({ path, bytes, newId }).catch(inWords(path))
  return { total: bytes.length }
}

/** Places where the bytes begin. Windows overlap, so that no place is missed between them. */
async function findBytes(op: OpOf<"find_bytes">, { cwd, signal }: OpPlace) {
  const path = pathOf(op.path, cwd)
  const wanted = Buffer.from(op.data, "base64")
  if (wanted.length === 0) throw new Error("there are no bytes to look for")
  const file = await open(path, "r").catch(inWords(path))
  try {
    const { size: total } = await file.stat()
    const offsets: number[] = []
    const end = Math.min(total, op.offset + SEARCH_BYTES_MAX)
    const window = Buffer.alloc(SEARCH_PIECE_BYTES + wanted.length - 1)
    for (let at = op.offset; at < end && offsets.length < op.limit; at += SEARCH_PIECE_BYTES) {
      signal.throwIfAborted()
      const { bytesRead } = await file.read(window, 0, window.length, at)
      const piece = window.subarray(0, bytesRead)
      for (let hit = piece.indexOf(wanted); hit >= 0; hit = piece.indexOf(wanted, hit + 1)) {
        if (hit >= SEARCH_PIECE_BYTES || offsets.length >= op.limit) break
        offsets.push(at + hit)
      }
    }
    return { total, offsets }
  } finally {
    await file.close()
  }
}

async function listUp(path: string, names: readonly string[]) {
  const dirs: { dir: string; found: string[] }[] = []
  let dir = path
  for (let level = 0; level < LEVELS_MAX; level++) {
    const there = new Set(await readdir(dir).catch(() => []))
    dirs.push({ dir, found: names.filter((name) => there.has(name)) })
    if (dirname(dir) === dir) break
    dir = dirname(dir)
  }
  return { dirs }
}

async function checkSize(path: string): Promise<void> {
  const size = await stat(path).then(
    (found) => found.size,
    () => 0,
  )
  if (size <= WHOLE_BYTES_MAX) return
  throw new Error(`${path} has ${size} bytes: too many to be handled as a whole`)
}

/** What was seen must still be what is there: somebody else may have written meanwhile. */
function checkUnchanged(
  bytes: Uint8Array | undefined,
  expected: string | null | undefined,
  path: string,
): void {
  if (expected === undefined) return
  const actual = bytes === undefined ? null : createHash("sha256").update(bytes).digest("hex")
  if (actual === expected) return
  const what = actual === null ? "is gone" : expected === null ? "exists already" : "was changed"
  throw new Error(`${path} ${what} since it was read; read it again`)
}

const NEIGHBOURS_MAX = 20

async function noSuchFile(path: string): Promise<Error> {
  const folder = dirname(path)
  const names = await readdir(folder).catch(() => undefined)
  if (!names) return new Error(`no file ${path}: there is no folder ${folder}`)
  const shown = names.sort().slice(0, NEIGHBOURS_MAX).join(", ")
  const more = names.length > NEIGHBOURS_MAX ? ` and ${names.length - NEIGHBOURS_MAX} more` : ""
  return new Error(`no file ${path}; ${join(folder, "/")} holds ${shown || "nothing"}${more}`)
}

const isAbsent = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "ENOENT"

const REASONS: Record<string, string> = {
  EACCES: "you may not",
  EPERM: "the system does not allow it",
  EISDIR: "it is a folder",
  ENOTDIR: "a part of the path is no folder",
  ENOENT: "there is no such file",
  ENOSPC: "the disk is full",
  EROFS: "the file system is read-only",
}

function wordsOf(error: unknown, path: string): Error {
  const code = error instanceof Error && "code" in error ? String(error.code) : ""
  const reason = REASONS[code] ?? (error instanceof Error ? error.message : String(error))
  return new Error(`${path}: ${reason}`, { cause: error })
}

const inWords =
  (path: string) =>
  (error: unknown): never => {
    throw wordsOf(error, path)
  }
