/** The folder of picture files, each named by its id. Only files with such names are ever touched. */
import { mkdirSync, statSync } from "node:fs"
import { type FileHandle, open, readdir, rename, rm, stat } from "node:fs/promises"
import { join } from "node:path"
import { errorText, KernelError } from "../lib/error.ts"
import { isUuid } from "../lib/id.ts"

/** Makes the folder for the owner alone; an existing one is left as it is. Throws KernelError("config"). */
export function prepareFolder(dir: string): void {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 })
    if (!statSync(dir).isDirectory()) throw new Error("it is a file")
  } catch (error) {
    throw new KernelError(
      "config",
      `${dir} cannot be the folder of pictures: ${errorText(error)}`,
      {
        path: "images.dir",
        cause: error,
      },
    )
  }
}

export const pathOf = (dir: string, id: string): string => join(dir, id)

/** Whole or not at all, and on disk when it resolves. */
export async function writeWhole(dir: string, id: string, bytes: Uint8Array): Promise<void> {
  const temporary = join(dir, `.${id}.tmp`)
  try {
    await onDisk(await open(temporary, "wx", 0o600), (file) => file.writeFile(bytes))
    await rename(temporary, pathOf(dir, id))
    // A rename is lasting once its folder is on disk.
    await onDisk(await open(dir, "r"))
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}

async function onDisk(
  file: FileHandle,
  work?: (file: FileHandle) => Promise<unknown>,
): Promise<void> {
  try {
    await work?.(file)
    await file.sync()
  } finally {
    await file.close()
  }
}

export async function removeFiles(dir: string, ids: readonly string[]): Promise<void> {
  await Promise.all(ids.map((id) => rm(pathOf(dir, id), { force: true })))
}

/** Removes files last written before `before` that no row knows: left by a crash between file and row. */
export async function removeStrays(
  dir: string,
  known: ReadonlySet<string>,
  before: number,
): Promise<number> {
  let removed = 0
  for (const name of await readdir(dir)) {
    const id = /^\.(.+)\.tmp$/.exec(name)?.[1] ?? name
    if (!isUuid(id) || (name === id && known.has(id))) continue
    const path = join(dir, name)
    const written = await stat(path).catch(() => undefined)
    if (!written?.isFile() || written.mtimeMs >= before) continue
    await rm(path, { force: true })
    removed++
  }
  return removed
}
