/**
 * Applies a patch in two phases: all of it is read and checked against the files, then all of it is written.
 * So a hunk that does not fit leaves every file as it was.
 */
import { posix } from "node:path"
import { errorText } from "../../lib/error.ts"
import { leavesFolder } from "../absolute-path.ts"
import { changeText } from "./change-text.ts"
import { parsePatch } from "./parse.ts"
import { type FileChange, MisfitError, PatchError } from "./patch.ts"
import type { AnnouncedWrite, PatchFiles } from "./patch-files.ts"
import { unwrap } from "./unwrap.ts"

/** What happened to a file. Paths are as the patch gives them. */
export interface Landed {
  kind: "added" | "changed" | "removed" | "moved"
  path: string
  /** Where it was before. */
  movedFrom?: string
  /** The file that stood at `path` before is gone. */
  replaced?: boolean
}

export interface FailedWrite {
  path: string
  reason: string
}

/** Whole when nothing failed and nothing was left out. */
export interface PatchOutcome {
  landed: Landed[]
  failed: FailedWrite[]
  /** After a failure or a cancel no further file is begun. */
  notTried: string[]
}

/** @throws PatchError before anything is written; the message quotes the offending input */
export async function applyPatch(
  patch: string,
  files: PatchFiles,
  signal?: AbortSignal,
): Promise<PatchOutcome> {
  const { text, folder } = unwrap(patch)
  const changes = readChanges(text, folder)
  const verified = await verifyFirst(changes, files)
  return write(verified, files, signal)
}

/** The patch as it is written, or why it cannot be read so; and the looser reading. */
interface Readings {
  strict: FileChange[] | MisfitError
  lenient(): FileChange[]
}

function readChanges(text: string, folder: string | undefined): Readings {
  const read = (lenient: boolean): FileChange[] => {
    const changes = parsePatch(text, { lenient })
    return folder === undefined ? changes : changes.map((change) => moveInto(folder, change))
  }
  const lenient = () => read(true)
  try {
    return { strict: read(false), lenient }
  } catch (error) {
    if (error instanceof MisfitError) return { strict: error, lenient }
    throw error
  }
}

const moveInto = (folder: string, change: FileChange): FileChange => {
  const path = under(folder, change.path)
  return change.kind === "update" && change.moveTo !== undefined
    ? { ...change, path, moveTo: under(folder, change.moveTo) }
    : { ...change, path }
}

const under = (folder: string, path: string): string =>
  posix.isAbsolute(path) || path.startsWith("~") ? path : posix.join(folder, path)

/** The sentence about the patch as it is written counts: the looser reading only helps. */
async function verifyFirst(readings: Readings, files: PatchFiles): Promise<Verified[]> {
  const { strict } = readings
  try {
    if (strict instanceof MisfitError) throw strict
    return await verify(strict, files, false)
  } catch (error) {
    if (!(error instanceof MisfitError)) throw prefixed(error)
    try {
      return await verify(readings.lenient(), files, true)
    } catch {
      throw prefixed(error)
    }
  }
}

const prefixed = (error: unknown): unknown =>
  error instanceof PatchError && !error.message.startsWith("patch rejected")
    ? new PatchError(`apply_patch verification failed: ${error.message}`)
    : error

/** One change with all that is needed to write it. */
interface Verified extends Landed {
  /** Of every kind but `removed`. */
  text: string
}

async function verify(
  changes: readonly FileChange[],
  files: PatchFiles,
  lenient: boolean,
): Promise<Verified[]> {
  if (changes.length === 0) {
    throw new PatchError("patch rejected: empty patch. No files were modified.")
  }
  refuseTwice(changes, files)
  const verified: Verified[] = []
  for (const change of changes) verified.push(await verifyChange(change, files, lenient))
  return verified
}

function refuseTwice(changes: readonly FileChange[], files: PatchFiles): void {
  const seen = new Set<string>()
  for (const change of changes) {
    const paths = pathsOf(change)
    for (const path of paths) refuseOutside(path)
    for (const target of new Set(paths.map(files.resolve))) {
      if (seen.has(target)) {
        throw new PatchError(
          `multiple operations target ${target}; put all changes of a file into one section`,
        )
      }
      seen.add(target)
    }
  }
}

const pathsOf = (change: FileChange): string[] =>
  change.kind === "update" && change.moveTo !== undefined
    ? [change.path, change.moveTo]
    : [change.path]

function refuseOutside(path: string): void {
  if (!leavesFolder(path)) return
  throw new PatchError(
    `patch rejected: writing outside of the project: '${path}' leaves the working directory; give an absolute path if that is meant`,
  )
}

async function verifyChange(
  change: FileChange,
  files: PatchFiles,
  lenient: boolean,
): Promise<Verified> {
  const { path } = change
  const target = files.resolve(path)
  if (change.kind === "add") {
    const kind = await kindForWriting(files, path)
    return { kind: "added", path, text: change.content, replaced: kind === "file" }
  }
  if (change.kind === "delete") {
    refuseRemoval(files, `Failed to delete file ${target}`)
    if ((await files.kindOf(path)) !== "file") {
      throw new PatchError(`Failed to delete file ${target}`)
    }
    return { kind: "removed", path, text: "" }
  }
  const text = changeText(await readForUpdate(files, path), change.hunks, { path: target, lenient })
  const { moveTo } = change
  if (moveTo === undefined || files.resolve(moveTo) === target) {
    return { kind: "changed", path, text }
  }
  refuseRemoval(files, `Failed to move file ${target}`)
  const kind = await kindForWriting(files, moveTo)
  return { kind: "moved", path: moveTo, movedFrom: path, text, replaced: kind === "file" }
}

async function kindForWriting(files: PatchFiles, path: string): Promise<"file" | "absent"> {
  const kind = await files.kindOf(path)
  if (kind === "directory") {
    throw new PatchError(`Failed to write file ${files.resolve(path)}: it is a directory`)
  }
  return kind
}

async function readForUpdate(files: PatchFiles, path: string): Promise<string> {
  try {
    return await files.read(path)
  } catch (error) {
    const target = files.resolve(path)
    throw new PatchError(`Failed to read file to update ${target}: ${errorText(error)}`)
  }
}

function refuseRemoval(files: PatchFiles, what: string): void {
  if (files.cannotRemove !== undefined) throw new PatchError(`${what}: ${files.cannotRemove}`)
}

async function write(
  verified: readonly Verified[],
  files: PatchFiles,
  signal: AbortSignal | undefined,
): Promise<PatchOutcome> {
  await announce(verified.flatMap(announced), files)
  const written: Written[] = []
  let next = 0
  const mayGoOn = () =>
    next < verified.length && !signal?.aborted && !written.some((each) => each?.failed)
  const work = async (): Promise<void> => {
    while (mayGoOn()) {
      const index = next++
      written[index] = await writeOne(verified[index]!, files)
    }
  }
  await Promise.all(Array.from({ length: files.parallel }, work))
  return {
    landed: written.flatMap(({ landed }) => landed ?? []),
    failed: written.flatMap(({ failed }) => failed ?? []),
    notTried: verified.slice(next).map(({ path }) => path),
  }
}

async function announce(writes: readonly AnnouncedWrite[], files: PatchFiles): Promise<void> {
  try {
    await files.announce(writes)
  } catch (error) {
    throw new PatchError(`nothing was written: ${errorText(error)}`)
  }
}

function announced({ kind, path, text, movedFrom }: Verified): AnnouncedWrite[] {
  if (kind === "removed") return [{ path, text: undefined }]
  if (movedFrom === undefined) return [{ path, text }]
  return [
    { path, text, like: movedFrom },
    { path: movedFrom, text: undefined },
  ]
}

/** A move whose source cannot go has both: it is a new file then. */
interface Written {
  landed?: Landed
  failed?: FailedWrite
}

async function writeOne(change: Verified, files: PatchFiles): Promise<Written> {
  const { text, ...landed } = change
  const { kind, path, movedFrom, replaced = false } = change
  try {
    if (kind === "removed") await files.remove(path)
    else await files.write(path, text, movedFrom)
  } catch (error) {
    return { failed: { path, reason: errorText(error) } }
  }
  if (movedFrom === undefined) return { landed }
  try {
    await files.remove(movedFrom)
    return { landed }
  } catch (error) {
    const failed = { path: movedFrom, reason: errorText(error) }
    return { landed: { kind: "added", path, replaced }, failed }
  }
}
