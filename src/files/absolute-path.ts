/** What a path of a tool call means on the machine that it acts on. */
import { posix } from "node:path"
import { ToolFailure } from "../tools/tool.ts"

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

/** A relative path that climbs out of the working directory is a slip more often than a wish. */
export const leavesFolder = (path: string): boolean =>
  !posix.isAbsolute(path) && /^\.\.(\/|$)/.test(posix.normalize(path))

/** @throws ToolFailure that says how it can be meant */
export function refuseOutside(path: string): void {
  if (!leavesFolder(path)) return
  throw new ToolFailure("it leaves the working directory; give an absolute path if that is meant")
}
