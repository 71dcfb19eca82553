/** Puts files in place: whole or not at all, readable by their owner alone, the old one kept beside them. */
import {
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs"
import { basename, dirname } from "node:path"
import { SECRETS_NAME } from "../../config/user-files.ts"
import { errorText, KernelError } from "../../lib/error.ts"
import type { FilePlan } from "./plan.ts"
import type { Talk } from "./questions.ts"

const OWNER_ONLY = 0o600
const OWNER_ONLY_FOLDER = 0o700

/** Writes through a file beside it. Throws KernelError("config") that names the path. */
export function writePrivate(path: string, text: string, mode = OWNER_ONLY): void {
  const beside = `${path}.new`
  try {
    mkdirSync(dirname(path), { recursive: true, mode: OWNER_ONLY_FOLDER })
    rmSync(beside, { force: true })
    // `wx`: a link that somebody put there in the meantime is not followed.
    writeFileSync(beside, text, { mode, flag: "wx" })
    chmodSync(beside, mode)
    renameSync(beside, path)
  } catch (error) {
    rmSync(beside, { force: true })
    throw new KernelError("config", `cannot write ${path}: ${errorText(error)}`, { cause: error })
  }
}

/** Copies the file to the first free `NAME.bak`, `NAME.bak2`, …; gives the copy's path. */
export function backUp(path: string): string {
  for (let n = 1; ; n++) {
    const copy = `${path}.bak${n === 1 ? "" : n}`
    if (existsSync(copy)) continue
    copyFileSync(path, copy, constants.COPYFILE_EXCL)
    chmodSync(copy, OWNER_ONLY)
    return copy
  }
}

/**
 * Asks what has to be asked and gives the rest to do, so that nothing is written before the last answer. A new
 * file is written; an old one only changes when somebody agrees or nobody can be asked, with a copy.
 */
export async function agreeToWrite(file: FilePlan, talk: Talk): Promise<() => Promise<void>> {
  const { path, text, before, adds } = file
  if (before === undefined) {
    return async () => {
      writePrivate(path, text)
      await talk.tell(`Wrote ${path}`)
    }
  }
  // A link stays a link: what it points to is the file.
  const target = realpathSync(path)
  const tighten = (): void => {
    if (basename(path) === SECRETS_NAME) chmodSync(target, OWNER_ONLY)
  }
  const question = `Change ${adds.join(", ")} in ${path}? A copy of the old file stays.`
  const agreed =
    text !== before && (!talk.questions || (await talk.questions.agree(question, true)))
  return async () => {
    tighten()
    if (!agreed) return talk.tell(text === before ? `Kept ${path}` : `Left ${path} as it is`)
    const copy = backUp(target)
    writePrivate(target, text)
    await talk.tell(`Set ${adds.join(", ")} in ${path}; the old one is ${copy}`)
  }
}
