/** The files of a machine as a patch sees them: texts by path, kept for an undo before they are written. */
import { errorText } from "../lib/error.ts"
import { sha256 } from "../lib/sha256.ts"
import type { BeforeWrite } from "./checkpoints.ts"
import { UTF_8 } from "./encodings.ts"
import type { Hands } from "./hands.ts"
import type { DiskFile } from "./local-disk.ts"
import type { AnnouncedWrite, PatchFiles } from "./patch/patch-files.ts"
import { refuseUnseen, type SeenFiles } from "./seen-files.ts"
import { losslessText, type TextFormat, writeText } from "./text-file.ts"

export interface TreeFilesOptions {
  hands: Hands
  chatId: string
  turnId: string
  beforeWrite: BeforeWrite
  seen: SeenFiles
}

const ABSENT = "No such file or directory"
/** For one patch: what was read stays remembered. */
export function treeFiles(options: TreeFilesOptions): PatchFiles {
  const { chatId, turnId, hands } = options
  const { name: machine, whole: files, parallel, resolve: at } = hands
  /** What was read here, by absolute path: a write is for that content alone. */
  const seen = new Map<string, DiskFile | undefined>()
  const formats = new Map<string, Format>()
  const look = async (path: string): Promise<DiskFile | undefined> => {
    if (!seen.has(path)) seen.set(path, await files.read(path))
    return seen.get(path)
  }
  const encode = ({ path, text, like = path }: AnnouncedWrite): Uint8Array | undefined =>
    text === undefined ? undefined : writeText(text, formats.get(at(like)) ?? PLAIN)

  const knows = knowledgeOf(options)

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
      const { text, ...format } = await losslessText(file.bytes)
      formats.set(at(path), format)
      return text
    },
    announce: async (writes) => {
      const known = await Promise.all(
        writes.map(async (write) => {
          const path = at(write.path)
          const former = await look(path)
          const isBlind = write.text !== undefined && former !== undefined && !formats.has(path)
          if (isBlind) await knows.refuseUnseen(path, former.bytes)
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
      const bytes = encode({ path, text, like })!
      await files.write(at(path), bytes, {
        ...(mode !== undefined && { mode }),
        expectSha256: former === undefined ? null : sha256(former.bytes),
      })
      knows.landed(at(path), { former: formats.has(at(path)) ? former : undefined, bytes })
    },
    remove: (path) => files.remove(at(path)),
  }
}

/** What the agent knows of the files, and learns by writing them. */
function knowledgeOf({ hands, chatId, seen }: TreeFilesOptions) {
  return {
    refuseUnseen: (path: string, now: Uint8Array): Promise<void> =>
      refuseUnseen(seen, { chatId, hands, path, now }).catch((error: unknown) => {
        throw new Error(`${path}: ${errorText(error)}`)
      }),
    /** @param former of a file that was changed in places: who knew it before knows it now */
    landed: (
      path: string,
      { former, bytes }: { former: DiskFile | undefined; bytes: Uint8Array },
    ): void => {
      const key = { chatId, machine: hands.name, path }
      if (former) seen.changed(key, former.bytes, bytes)
      else seen.saw(key, { sha256: sha256(bytes) })
    },
  }
}

type Format = Pick<TextFormat, "encoding" | "bom">

/** Of new files. */
const PLAIN: Format = { encoding: UTF_8, bom: false }
