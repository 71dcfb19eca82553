/** Carries out one client operation on this machine. What it answers is what `schema/client-op.ts` says. */
import { readdir, stat } from "node:fs/promises"
import { dirname } from "node:path"
import { CLIENT } from "../../../files/client-files.ts"
import { findInPieces } from "../../../files/find-in-pieces.ts"
import { readWhole } from "../../../files/local-disk.ts"
import { listLocal, readLocal } from "../../../files/local-hands.ts"
import { readFailure } from "../../../files/read-failure.ts"
import { localFiles } from "../../../files/whole-files.ts"
import type { NewId } from "../../../lib/id.ts"
import { type ClientOp, FIND_BYTES_MAX, UNKNOWN_OP_ACTION } from "../../../schema/client-op.ts"
import { createLocalMachine } from "../../../shell/local-machine.ts"
import { runOneShot } from "../../../shell/one-shot.ts"
import { pathOf } from "./place.ts"

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
      return runShell(op, place)
    case "read_bytes":
      return JSON.stringify(await readBytes(pathOf(op.path, place.cwd), op))
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
  const { bytes } = await readPiece(path, { offset: 0, size: WHOLE_BYTES_MAX })
  return Buffer.from(bytes).toString()
}

/** A missing file is told with what stands around it. */
const readPiece: typeof readLocal = (path, piece) =>
  readLocal(path, piece).catch(async (error: unknown) => {
    throw await readFailure({ name: CLIENT, list: listLocal }, path, error)
  })

async function readBytes(path: string, { offset, size }: OpOf<"read_bytes">) {
  const piece = { offset, size: Math.min(size, PIECE_BYTES_MAX) }
  const { total, bytes } = await readPiece(path, piece)
  return { total, data: Buffer.from(bytes).toString("base64") }
}

async function writeText(op: OpOf<"write">, { cwd, newId }: OpPlace): Promise<string> {
  const path = pathOf(op.path, cwd)
  const bytes = Buffer.from(op.content)
  await writeHere(path, bytes, { newId, expected: op.expect_sha256 })
  return `wrote ${path}, ${bytes.length} bytes`
}

async function writePiece(op: OpOf<"write_bytes">, { cwd, newId }: OpPlace) {
  const path = pathOf(op.path, cwd)
  await checkSize(path)
  const old = (await readWhole(path).catch(inWords(path)))?.bytes ?? new Uint8Array()
  if (op.offset > old.length) {
    throw new Error(`${path} has ${old.length} bytes: writing at ${op.offset} would leave a hole`)
  }
  const data = Buffer.from(op.data, "base64")
  const rest = op.truncate ? new Uint8Array() : old.subarray(op.offset + data.length)
  const bytes = Buffer.concat([old.subarray(0, op.offset), data, rest])
  await writeHere(path, bytes, { newId, expected: op.expect_sha256 })
  return { total: bytes.length }
}

/** What was seen must still be what is there: somebody else may have written meanwhile. */
function writeHere(
  path: string,
  bytes: Uint8Array,
  { newId, expected }: { newId: NewId; expected: string | null | undefined },
): Promise<void> {
  const wanted = expected === undefined ? {} : { expectSha256: expected }
  return localFiles(newId).write(path, bytes, wanted).catch(inWords(path))
}

function findBytes(op: OpOf<"find_bytes">, { cwd, signal }: OpPlace) {
  const bytes = Buffer.from(op.data, "base64")
  if (bytes.length === 0) throw new Error("there are no bytes to look for")
  const { offset, limit } = op
  const end = offset + FIND_BYTES_MAX
  return findInPieces(readPiece, pathOf(op.path, cwd), { bytes, offset, end, limit, signal })
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

/** As on the server, only that nobody there outlives this client. */
function runShell(op: OpOf<"shell">, place: OpPlace): Promise<string> {
  const { cwd, environment, signal, onProgress: onTail } = place
  return runOneShot(createLocalMachine({ environment }), {
    ...{ commands: [op.command].flat(), cwd, signal, onTail },
    ...{ timeoutMs: op.timeout_ms, outputCap: undefined },
  })
}

async function checkSize(path: string): Promise<void> {
  const size = await stat(path).then(
    (found) => found.size,
    () => 0,
  )
  if (size <= WHOLE_BYTES_MAX) return
  throw new Error(`${path} has ${size} bytes: too many to be handled as a whole`)
}

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
