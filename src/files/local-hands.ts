/** Files of this machine, for the kernel that acts on it and for the client that carries out operations. */
import { constants } from "node:fs"
import { type FileHandle, open, readdir } from "node:fs/promises"
import { homedir } from "node:os"
import type { NewId } from "../lib/id.ts"
import { absolutePath } from "./absolute-path.ts"
import { type FilePiece, FileProblem, type Hands, type PieceAt } from "./hands.ts"
import type { LineIndex } from "./line-index.ts"
import { kindOf, refuseDangling } from "./local-disk.ts"
import { factsOf, readFully } from "./local-read.ts"
import { localFiles } from "./whole-files.ts"

export interface LocalHandsOptions {
  name: string
  /** Relative paths count from it; the home when undefined. */
  cwd: string | undefined
  newId: NewId
  lineIndex: LineIndex
  signal: AbortSignal
}

export function localHands(options: LocalHandsOptions): Hands {
  const { name, newId, lineIndex, signal } = options
  const home = homedir()
  const cwd = options.cwd ?? home
  return {
    name,
    on: "server",
    whole: localFiles(newId),
    parallel: PARALLEL,
    resolve: (path) => absolutePath(path, { cwd, home }),
    read: readLocal,
    lines: (path, at) => withFile(path, (file) => lineIndex.span({ path, file, signal, ...at })),
    list: listLocal,
  }
}

/** Enough for the disk to collect writes. */
const PARALLEL = 8

/** Names in a folder of this machine; undefined when it cannot be read. */
export const listLocal = (folder: string): Promise<string[] | undefined> =>
  readdir(folder).then(
    (names) => names.sort(),
    () => undefined,
  )

/** A piece of a file of this machine. Throws as `Hands.read` does. */
export const readLocal: Hands["read"] = (path, piece) =>
  withFile(path, (file) => readPiece(file, piece))

/** Never waits: a pipe without a writer, or a file that is a queue, answers at once. */
async function withFile<T>(path: string, work: (file: FileHandle) => Promise<T>): Promise<T> {
  const kind = await kindOf(path).catch(inWords)
  if (kind === "absent") {
    await refuseDangling(path)
    throw new FileProblem("absent")
  }
  if (kind !== "file") throw new FileProblem(kind === "directory" ? "folder" : "special")
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(inWords)
  try {
    return await work(file)
  } finally {
    await file.close()
  }
}

function inWords(error: unknown): never {
  const code = error instanceof Error && "code" in error ? error.code : undefined
  if (code === "ENOENT") throw new FileProblem("absent", { cause: error })
  if (code === "EACCES" || code === "EPERM") throw new FileProblem("denied", { cause: error })
  throw error
}

async function readPiece(file: FileHandle, { offset, size }: PieceAt): Promise<FilePiece> {
  const { size: told, stamp } = await factsOf(file)
  const bytes = await readFully(
    file,
    Buffer.alloc(told === 0 ? size : fitting(size, told - offset)),
    offset,
  )
  // Files of /proc say that they are empty.
  const end = bytes.length > 0 ? offset + bytes.length : 0
  return { total: Math.max(told, end), bytes, stamp }
}

const fitting = (size: number, left: number): number => Math.max(0, Math.min(size, left))
