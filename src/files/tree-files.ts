/** The files of a machine as a patch sees them: texts by path, kept for an undo before they are written. */
import { posix } from "node:path"
import { type BeforeWrite, sha256 } from "./checkpoints.ts"
import type { DiskFile } from "./local-disk.ts"
import type { PatchFiles } from "./patch/patch-files.ts"
import type { WholeFiles } from "./whole-files.ts"

export interface TreeFilesOptions {
  files: WholeFiles
  /** As answers and checkpoints name it. */
  machine: string
  /** Absolute; relative paths count from it. Undefined: they are resolved there. */
  cwd: string | undefined
  /** What a leading ~ means; undefined: it is resolved there. */
  home?: string
  /** Why nothing can be removed there. */
  cannotRemove?: string
  /** How many files are written at once. */
  parallel?: number
  chatId: string
  turnId: string
  beforeWrite: BeforeWrite
}

const NOT_UTF8 = "it is not UTF-8 text; change it with write_hex"
const ABSENT = "No such file or directory"
/** Enough for the disk to collect writes. */
const PARALLEL = 8

/** For one patch: what was read stays remembered. */
export function treeFiles(options: TreeFilesOptions): PatchFiles {
  const { files, machine, chatId, turnId } = options
  const at = (path: string) => absolute(path, options)
  /** What was read here, by absolute path: a write is for that content alone. */
  const seen = new Map<string, DiskFile | undefined>()
  const look = async (path: string): Promise<DiskFile | undefined> => {
    if (!seen.has(path)) seen.set(path, await files.read(path))
    return seen.get(path)
  }

  return {
    cannotRemove: options.cannotRemove,
    parallel: options.parallel ?? PARALLEL,
    resolve: at,
    kindOf: async (path) => {
      try {
        return (await look(at(path))) ? "file" : "absent"
      } catch (error) {
        // Only now, since far away each look is a question of its own.
        const kind = await files.kindOf(at(path))
        if (kind === "file") throw error
        if (kind !== "absent") return "directory"
        seen.set(at(path), undefined)
        return kind
      }
    },
    read: async (path) => {
      const file = await look(at(path))
      if (!file) throw new Error(ABSENT)
      return decode(file.bytes)
    },
    announce: async (writes) => {
      const known = await Promise.all(
        writes.map(async ({ path, text }) => {
          const former = await look(at(path))
          return {
            ...{ chatId, writerId: turnId, machine, path: at(path), former: former?.bytes },
            ...(former?.mode !== undefined && { formerMode: former.mode }),
            next: text === undefined ? undefined : Buffer.from(text),
          }
        }),
      )
      await options.beforeWrite(...known)
    },
    write: async (path, text, like) => {
      const former = await look(at(path))
      const mode = like === undefined ? undefined : (await look(at(like)))?.mode
      await files.write(at(path), Buffer.from(text), {
        ...(mode !== undefined && { mode }),
        expectSha256: former === undefined ? null : sha256(former.bytes),
      })
    },
    remove: (path) => files.remove(at(path)),
  }
}

function absolute(path: string, { cwd, home }: Pick<TreeFilesOptions, "cwd" | "home">): string {
  const fromHome = path === "~" || path.startsWith("~/")
  if (fromHome && home !== undefined) return posix.join(home, path.slice(1))
  if (fromHome || cwd === undefined || posix.isAbsolute(path)) return posix.normalize(path)
  return posix.join(cwd, path)
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (error) {
    throw new Error(NOT_UTF8, { cause: error })
  }
}
