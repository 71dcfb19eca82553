/**
 * Applies a patch in two phases: all of it is read and checked against the files, then all of it is written.
 * So a hunk that does not fit leaves every file as it was.
 */
import { posix } from "node:path"
import { errorText } from "../../lib/error.ts"
import { changeText } from "./change-text.ts"
import { parsePatch } from "./parse.ts"
import { type FileChange, PatchError } from "./patch.ts"
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

export interface PatchOutcome {
  landed: Landed[]
  /** A write failed; what follows it was not tried. */
  failure: { path: string; reason: string; notTried: string[] } | undefined
}

/**
 * After a cancel no further file is begun; those not written are then listed like those behind a failure.
 *
 * @throws PatchError before anything is written; the message quotes the offending input
 */
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

/** A reading of the patch, and the looser one that is tried when it does not fit. */
interface Readings {
  strict: FileChange[] | PatchError
  lenient(): FileChange[]
}

function readChanges(text: string, folder: string | undefined): Readings {
  const inFolder = (changes: FileChange[]) =>
    folder === undefined ? changes : changes.map((change) => moveInto(folder, change))
  const read = (lenient: boolean) => inFolder(parsePatch(text, { lenient }))
  let strict: Readings["strict"]
  try {
    strict = read(false)
  } catch (error) {
    if (!(error instanceof PatchError)) throw error
    strict = error
  }
  return { strict, lenient: () => read(true) }
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
    if (strict instanceof PatchError) throw strict
    return await verify(strict, files, false)
  } catch (failed) {
    if (!(failed instanceof PatchError)) throw failed
    try {
      return await verify(readings.lenient(), files, true)
    } catch (again) {
      if (again instanceof PatchError) throw verificationFailed(failed)
      throw again
    }
  }
}

const verificationFailed = (error: PatchError): PatchError =>
  error.message.startsWith("patch rejected")
    ? error
    : new PatchError(`apply_patch verification failed: ${error.message}`)

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

/** A relative path that climbs out of the working directory is a slip more often than a wish. */
function refuseOutside(path: string): void {
  if (posix.isAbsolute(path) || !/^\.\.(\/|$)/.test(posix.normalize(path))) return
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
  await files.announce(verified.flatMap(announced))
  const landed: (Landed | undefined)[] = verified.map(() => undefined)
  const tried = new Set<Verified>()
  let failure: PatchOutcome["failure"]
  const writeNext = async (): Promise<void> => {
    const index = tried.size
    const change = verified[index]
    if (!change || failure) return
    let path = change.path
    try {
      if (signal?.aborted) throw new Error("the turn was cancelled")
      tried.add(change)
      landed[index] = await writeOne(change, files)
      if (change.movedFrom !== undefined) {
        path = change.movedFrom
        await files.remove(path)
        landed[index] = landedOf(change)
      }
    } catch (error) {
      failure ??= { path, reason: errorText(error), notTried: [] }
    }
    await writeNext()
  }
  await Promise.all(Array.from({ length: files.parallel }, writeNext))
  if (failure) {
    const { path } = failure
    const rest = verified.filter((each) => !tried.has(each) && each.path !== path)
    failure.notTried = rest.map((each) => each.path)
  }
  return { landed: landed.filter((each) => each !== undefined), failure }
}

function announced({ kind, path, text, movedFrom }: Verified): AnnouncedWrite[] {
  if (kind === "removed") return [{ path, text: undefined }]
  if (movedFrom === undefined) return [{ path, text }]
  return [
    { path, text, like: movedFrom },
    { path: movedFrom, text: undefined },
  ]
}

/** What has then landed: a move is a new file until its source is gone. */
async function writeOne(change: Verified, files: PatchFiles): Promise<Landed> {
  const { kind, path, text, movedFrom, replaced } = change
  if (kind === "removed") await files.remove(path)
  else await files.write(path, text, movedFrom)
  return movedFrom === undefined ? landedOf(change) : { kind: "added", path, replaced: replaced! }
}

const landedOf = ({ text: _text, ...landed }: Verified): Landed => landed
