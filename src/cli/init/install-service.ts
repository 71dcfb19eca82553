/** Offers to keep the kernel running for this user, and writes the service file when that is wanted. */
import { existsSync, readFileSync } from "node:fs"
import type { Environment } from "../../lib/environment.ts"
import { ownCommand } from "../own-command.ts"
import type { Talk } from "./questions.ts"
import { managerRuns, type Service, serviceFor } from "./service.ts"
import { backUp, writePrivate } from "./write.ts"

const EVERYBODY_READS = 0o644

export interface ServicePlan {
  /** Starts it, when there is a service file or will be. */
  startCommand: string | undefined
  write(): Promise<void>
}

export interface ServiceOptions {
  talk: Talk
  environment: Environment
  /** Asked for on the command line. */
  wanted: boolean
  /** The configuration files that it serves with. */
  files: readonly string[]
}

const NOTHING: ServicePlan = { startCommand: undefined, write: async () => {} }

/** Asks when somebody is there to be asked; writes nothing yet. */
export async function agreeToService(options: ServiceOptions): Promise<ServicePlan> {
  const { talk, environment, wanted, files } = options
  if (!wanted && !(talk.questions && managerRuns())) return NOTHING
  const config = files.flatMap((file) => ["--config", file])
  const service = serviceFor([...ownCommand(), "serve", ...config], environment)
  if (!service) {
    await talk.warn("--service: on this platform there is no service manager that init knows")
    return NOTHING
  }
  const { path, text, startCommand } = service
  const before = existsSync(path) ? readFileSync(path, "utf8") : undefined
  if (before === text) return { startCommand, write: () => talk.tell(`Kept ${path}`) }
  if (!(await isAgreed(service, { talk, wanted, there: before !== undefined }))) {
    return before === undefined ? NOTHING : { ...NOTHING, startCommand }
  }
  const write = async (): Promise<void> => {
    const copy = before === undefined ? undefined : backUp(path)
    writePrivate(path, text, EVERYBODY_READS)
    await talk.tell(`Wrote ${path}${copy ? `; the old one is ${copy}` : ""}`)
  }
  return { startCommand, write }
}

async function isAgreed(
  { path, kind }: Service,
  { talk, wanted, there }: { talk: Talk; wanted: boolean; there: boolean },
): Promise<boolean> {
  if (there) {
    if (talk.questions) return talk.questions.agree(`${path} is another one. Replace it?`, false)
    await talk.warn(`${path} is another one, so it was left as it is`)
    return false
  }
  if (wanted || !talk.questions) return true
  return talk.questions.agree(
    `Keep the kernel running with ${kind}, now and after every login?`,
    true,
  )
}
