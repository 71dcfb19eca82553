/** What a path of a tool call means on the machine that it acts on. */
import { posix } from "node:path"

export interface PathPlace {
  /** Absolute; relative paths count from it. Undefined: they are resolved there. */
  cwd: string | undefined
  /** What a leading ~ means; undefined: it is resolved there. */
  home?: string | undefined
}

export function absolutePath(path: string, { cwd, home }: PathPlace): string {
  const fromHome = path === "~" || path.startsWith("~/")
  if (fromHome && home !== undefined) return posix.join(home, path.slice(1))
  if (fromHome || cwd === undefined || posix.isAbsolute(path)) return posix.normalize(path)
  return posix.join(cwd, path)
}
