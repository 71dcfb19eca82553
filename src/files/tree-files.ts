/** The files of a machine as a patch sees them: texts by path, each write behind a checkpoint. */
import { homedir } from "node:os"
import { isAbsolute, join, resolve } from "node:path"
import type { BeforeWrite } from "./checkpoints.ts"
import { sha256 } from "./checkpoints.ts"
import type { DiskFile } from "./local-disk.ts"
import type { PatchFiles } from "./patch/patch-files.ts"
import type { WholeFiles } from "./whole-files.ts"

export interface TreeFilesOptions {
  files: WholeFiles
  /** As answers and checkpoints name it. */
  machine: string
  /** Absolute; relative paths count from it. */
  cwd: string
  chatId: string
  turnId: string
  beforeWrite: BeforeWrite
}

const NOT_UTF8 = "it is not UTF-8 text; change it with write_hex"
const ABSENT = "No such file or directory"

export function treeFiles({ files, machine, cwd, ...options }: TreeFilesOptions): PatchFiles {
  const absolute = (path: string): string =>
    path === "~" || path.startsWith("~/")
      ? join(homedir(), path.slice(1))
      : isAbsolute(path)
        ? resolve(path)
        : resolve(cwd, path)
  /** What was read here, by absolute path: a write is for that content alone. */
  const seen = new Map<string, DiskFile | undefined>()
  const look = async (path: string): Promise<DiskFile | undefined> => {
    if (!seen.has(path)) seen.set(path, await files.read(path))
    return seen.get(path)
  }
  const checkpoint = async (path: string, next: Uint8Array | undefined) => {
    const former = await look(path)
    await options.beforeWrite({
      ...{ chatId: options.chatId, writerId: options.turnId, machine, path, next },
      former: former?.bytes,
      ...(former?.mode !== undefined && { formerMode: former.mode }),
    })
    return former
  }

  return {
    cannotRemove: undefined,
    resolve: absolute,
    kindOf: async (path) => {
      const kind = await files.kindOf(absolute(path))
      if (kind === "file") await look(absolute(path))
      return kind === "other" ? "directory" : kind
    },
    read: async (path) => {
      const file = await look(absolute(path))
      if (!file) throw new Error(ABSENT)
      return decode(file.bytes)
    },
    write: async (path, text, like) => {
      const target = absolute(path)
      const bytes = Buffer.from(text)
      const former = await checkpoint(target, bytes)
      const mode = like === undefined ? undefined : (await look(absolute(like)))?.mode
      await files.write(target, bytes, {
        ...(mode !== undefined && { mode }),
        expectSha256: former === undefined ? null : sha256(former.bytes),
      })
    },
    remove: async (path) => {
      await checkpoint(absolute(path), undefined)
      await files.remove(absolute(path))
    },
  }
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (error) {
    throw new Error(NOT_UTF8, { cause: error })
  }
}
