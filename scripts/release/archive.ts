/** Archives that come out the same, byte for byte, from the same files: no owner, no time of the machine. */
import { gzipSync } from "node:zlib"
import { zipSync } from "fflate"
import { createTar } from "nanotar"

export interface ArchivedFile {
  /** With the folder that everything in the archive lies in. */
  name: string
  data: Uint8Array
  executable?: boolean
}

const EXECUTABLE = 0o755
const PLAIN = 0o644
const UNIX = 3
/** The first instant that a zip can hold, in the zone that it is unpacked in. */
const ZIP_EPOCH = new Date(1980, 0, 1)

export function tarGz(files: readonly ArchivedFile[]): Uint8Array {
  const tar = createTar(
    files.map(({ name, data, executable }) => ({
      name,
      data,
      attrs: {
        mode: (executable ? EXECUTABLE : PLAIN).toString(8).padStart(7, "0"),
        mtime: 0,
        uid: 0,
        gid: 0,
        user: "root",
        group: "root",
      },
    })),
  )
  return gzipSync(tar, { level: 9 })
}

export function zip(files: readonly ArchivedFile[]): Uint8Array {
  return zipSync(
    Object.fromEntries(
      files.map(({ name, data, executable }) => [
        name,
        [data, { os: UNIX, attrs: (executable ? EXECUTABLE : PLAIN) << 16 }] as const,
      ]),
    ) as Parameters<typeof zipSync>[0],
    { level: 9, mtime: ZIP_EPOCH },
  )
}
