/** Where an operation acts on this machine: its project, and whether a path lies within. */
import { realpath } from "node:fs/promises"
import { homedir } from "node:os"
import { basename, dirname, isAbsolute, join, resolve, sep } from "node:path"

/** The path that an operation names, absolute: relative ones count from `cwd`, `~` is the home. */
export function pathOf(path: string, cwd: string): string {
  if (path === "~" || path.startsWith("~/")) return join(homedir(), path.slice(1))
  return isAbsolute(path) ? resolve(path) : resolve(cwd, path)
}

/** The path with its links followed as far as it exists: a link must not lead out of a project unseen. */
export async function realPathOf(path: string): Promise<string> {
  const real = await realpath(path).catch(() => undefined)
  if (real !== undefined) return real
  const parent = dirname(path)
  return parent === path ? path : join(await realPathOf(parent), basename(path))
}

/** Whether `path` is `folder` or lies in it; both as `realPathOf` gives them. */
export const isWithin = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)

/** A home or a root is no project: what lies in it is not meant to be read without a question. */
export const isProject = (folder: string): boolean =>
  folder !== homedir() && dirname(folder) !== folder
