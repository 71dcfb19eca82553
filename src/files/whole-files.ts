/** Whole files of one machine, as patches and undos need them. */
import type { NewId } from "../lib/id.ts"
import { sha256 } from "../lib/sha256.ts"
import {
  type DiskFile,
  type DiskKind,
  kindOf,
  readWhole,
  removeFile,
  writeWhole,
} from "./local-disk.ts"

export interface WholeFiles {
  kindOf(path: string): Promise<DiskKind>
  /** Undefined when there is no such file. */
  read(path: string): Promise<DiskFile | undefined>
  write(path: string, bytes: Uint8Array, options?: WriteOptions): Promise<void>
  /** Writes bytes into a file that is there or new; absent where that is no less than replacing all of it. */
  writeAt?(path: string, piece: BytesAt, options: Pick<WriteOptions, "expectSha256">): Promise<void>
  remove(path: string): Promise<void>
  /** Why nothing can be removed there, as a sentence for the model. */
  readonly cannotRemove?: string
}

export interface BytesAt {
  offset: number
  data: Uint8Array
  /** The file ends behind these bytes. */
  truncate: boolean
}

export interface WriteOptions {
  /** Permission bits for a file that is not there. */
  mode?: number
  /** What the file must still hold, null when it must not exist: else it is left alone. */
  expectSha256?: string | null
}

export const localFiles = (newId: NewId): WholeFiles => ({
  kindOf,
  read: readWhole,
  write: async (path, bytes, { mode, expectSha256 } = {}) => {
    if (expectSha256 !== undefined) await refuseChanged(path, expectSha256)
    await writeWhole({ path, bytes, newId, ...(mode !== undefined && { mode }) })
  },
  remove: removeFile,
})

async function refuseChanged(path: string, expected: string | null): Promise<void> {
  const current = await readWhole(path)
  const hash = current === undefined ? null : sha256(current.bytes)
  if (hash !== expected) {
    throw new Error("the file was changed meanwhile; read it again")
  }
}
