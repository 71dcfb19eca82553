/** What stands at a path that will be written. */
import { FileProblem } from "./hands.ts"
import type { DiskFile } from "./local-disk.ts"
import type { WholeFiles } from "./whole-files.ts"

/**
 * Undefined when nothing stands there. What it is gets asked only when it cannot be read, since far away each
 * look is a question of its own.
 * @throws Error with a sentence when it is no file that can be replaced
 */
export async function formerFile(files: WholeFiles, path: string): Promise<DiskFile | undefined> {
  try {
    return await files.read(path)
  } catch (error) {
    const kind = await files.kindOf(path)
    if (kind === "absent") return undefined
    if (kind === "file") throw error
    throw new FileProblem(kind === "directory" ? "folder" : "special", { cause: error })
  }
}
