/** Whole files of this machine: read, replaced at one stroke, removed. */
import { constants } from "node:fs"
import { chmod, lstat, mkdir, open, readFile, realpath, rename, rm, stat } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import type { NewId } from "../lib/id.ts"

export interface DiskFile {
  bytes: Uint8Array
  /** Permission bits, where the machine tells them. */
  mode?: number
}

const PERMISSIONS = 0o7777
/** Whoever put the link there may have chosen a place that nobody meant to write to. */
export const LEADS_NOWHERE =
  "it is a symbolic link to a file that is not there; name that file itself"

/** `other` is a device, a socket or a pipe: nothing to read whole. */
export type DiskKind = "file" | "directory" | "other" | "absent"

export async function kindOf(path: string): Promise<DiskKind> {
  const found = await unlessAbsent(stat(path))
  if (!found) return "absent"
  if (found.isDirectory()) return "directory"
  return found.isFile() ? "file" : "other"
}

/** Undefined when there is no such file. */
export async function readWhole(path: string): Promise<DiskFile | undefined> {
  const found = await unlessAbsent(stat(path))
  if (!found) return undefined
  if (!found.isFile()) throw new Error("it is not a regular file")
  return { bytes: await readFile(path), mode: found.mode & PERMISSIONS }
}

export interface WriteWhole {
  path: string
  bytes: Uint8Array
  /** For a file that is not there; one that is keeps its own. */
  mode?: number | undefined
  newId: NewId
}

/**
 * Whoever reads meanwhile, and whatever dies meanwhile, sees the old file or the new one. A symbolic link
 * stays one: its target is replaced. Folders on the way are made.
 */
export async function writeWhole({ path, bytes, mode, newId }: WriteWhole): Promise<void> {
  const target = await unlessAbsent(realpath(path))
  if (target === undefined) await refuseDangling(path)
  await replaceFile(target ?? path, { bytes, mode, newId })
}

/** @throws Error when the path is a symbolic link whose target is not there */
export async function refuseDangling(path: string): Promise<void> {
  if ((await unlessAbsent(lstat(path)))?.isSymbolicLink()) throw new Error(LEADS_NOWHERE)
}

async function replaceFile(
  target: string,
  { bytes, mode, newId }: Omit<WriteWhole, "path">,
): Promise<void> {
  const folder = dirname(target)
  await mkdir(folder, { recursive: true })
  const former = await unlessAbsent(stat(target))
  const wanted = former ? former.mode & PERMISSIONS : mode
  const beside = join(folder, `.${basename(target)}.${newId()}.tmp`)
  try {
    const file = await open(beside, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL)
    try {
      await file.writeFile(bytes)
      await file.datasync()
    } finally {
      await file.close()
    }
    // Not by the mode of open, which the umask narrows.
    if (wanted !== undefined) await chmod(beside, wanted)
    await rename(beside, target)
  } catch (error) {
    await rm(beside, { force: true })
    throw error
  }
}

export const removeFile = (path: string): Promise<void> => rm(path)

async function unlessAbsent<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined
    if (code === "ENOENT" || code === "ENOTDIR") return undefined
    throw error
  }
}
