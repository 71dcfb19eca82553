/** A piece of a file of the kernel's own machine, for modules. */
import { homedir } from "node:os"
import { errorText, KernelError } from "../lib/error.ts"
import { type BytesPiece, PIECE_BYTES, type ReadBytes } from "../schema/client-op.ts"
import { absolutePath } from "./absolute-path.ts"
import { FileProblem } from "./hands.ts"
import { listLocal, readLocal } from "./local-hands.ts"
import { readFailure } from "./read-failure.ts"

/** @throws KernelError not_found for no such file, invalid for what is none or may not be read */
export async function readBytes({
  path: named,
  offset = 0,
  size = PIECE_BYTES,
}: ReadBytes): Promise<BytesPiece> {
  const home = homedir()
  const path = absolutePath(named, { cwd: home, home })
  try {
    const { total, bytes } = await readLocal(path, { offset, size })
    return { total, data: bytes.toBase64() }
  } catch (error) {
    const isAbsent = error instanceof FileProblem && error.kind === "absent"
    const words = errorText(await readFailure({ name: "server", list: listLocal }, path, error))
    throw new KernelError(isAbsent ? "not_found" : "invalid", words, { cause: error })
  }
}
