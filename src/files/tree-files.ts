/** The files of a machine as a patch sees them: texts by path, kept for an undo before they are written. */
import { sha256 } from "../lib/sha256.ts"
import type { BeforeWrite } from "./checkpoints.ts"
import { UTF_8 } from "./encodings.ts"
import type { Hands } from "./hands.ts"
import type { DiskFile } from "./local-disk.ts"
import type { AnnouncedWrite, PatchFiles } from "./patch/patch-files.ts"
import { isLossless, NotText, readText, type TextFormat, writeText } from "./text-file.ts"

export interface TreeFilesOptions {
  hands: Pick<Hands, "name" | "whole" | "parallel" | "resolve">
  chatId: string
  turnId: string
  beforeWrite: BeforeWrite
}

const ABSENT = "No such file or directory"
const LOSSY = "its encoding cannot be told for sure; change it with write_hex"
/** For one patch: what was read stays remembered. */
export function treeFiles(options: TreeFilesOptions): PatchFiles {
  const { chatId, turnId } = options
  const { name: machine, whole: files, parallel, resolve: at } = options.hands
  /** What was read here, by absolute path: a write is for that content alone. */
  const seen = new Map<string, DiskFile | undefined>()
  const formats = new Map<string, Format>()
  const look = async (path: string): Promise<DiskFile | undefined> => {
    if (!seen.has(path)) seen.set(path, await files.read(path))
    return seen.get(path)
  }
  const encode = ({ path, text, like = path }: AnnouncedWrite): Uint8Array | undefined =>
    text === undefined ? undefined : writeText(text, formats.get(at(like)) ?? PLAIN)

  return {
    cannotRemove: files.cannotRemove,
    ...{ parallel, resolve: at },
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
      const { text, ...format } = await decode(file.bytes)
      formats.set(at(path), format)
      return text
    },
    announce: async (writes) => {
      const known = await Promise.all(
        writes.map(async (write) => {
          const path = at(write.path)
          const former = await look(path)
          return {
            ...{ chatId, writerId: turnId, machine, path, former: former?.bytes },
            ...(former?.mode !== undefined && { formerMode: former.mode }),
            next: encode(write),
          }
        }),
      )
      await options.beforeWrite(...known)
    },
    write: async (path, text, like = path) => {
      const former = await look(at(path))
      const mode = (await look(at(like)))?.mode
      await files.write(at(path), encode({ path, text, like })!, {
        ...(mode !== undefined && { mode }),
        expectSha256: former === undefined ? null : sha256(former.bytes),
      })
    },
    remove: (path) => files.remove(at(path)),
  }
}

type Format = Pick<TextFormat, "encoding" | "bom">

/** Of new files, and of files in UTF-8 whatever else they hold. */
const PLAIN: Format = { encoding: UTF_8, bom: false }
const BOM = "\ufeff"

async function decode(bytes: Uint8Array): Promise<Format & { text: string }> {
  const text = asUtf8(bytes)
  if (text?.startsWith(BOM)) return { ...PLAIN, bom: true, text: text.slice(BOM.length) }
  if (text !== undefined) return { ...PLAIN, text }
  const file = await readText(bytes)
  if (!isLossless(bytes, file)) throw new NotText(LOSSY)
  return file
}

function asUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}
