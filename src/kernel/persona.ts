/** The text of the persona file: read once at start, where an unreadable one must stop it. */
import { readFile } from "node:fs/promises"
import { errorText, KernelError } from "../lib/error.ts"
import { cleanText } from "../lib/text.ts"

/** Undefined without a file. Throws KernelError("config") when the file cannot be read. */
export async function readPersona(file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined
  try {
    return cleanText(await readFile(file, "utf8"))
  } catch (error) {
    throw new KernelError("config", `the persona cannot be read: ${errorText(error)}`, {
      path: "persona.file",
      cause: error,
    })
  }
}
