/** `eva-kernel serve`: reads the configuration, opens the door, and closes it in order when told to stop. */
import type { LoadedConfig } from "../config/build.ts"
import { dataDirectory } from "../config/data-directory.ts"
import { defaultConfig } from "../config/defaults.ts"
import { loadConfig } from "../config/load.ts"
import { configSecrets } from "../config/mask.ts"
import { probeModelServer } from "../config/probe.ts"
import type { Config } from "../config/schema.ts"
import { type Environment, processEnvironment } from "../lib/environment.ts"
import { errorText, KernelError } from "../lib/error.ts"
import { createLog, type Log } from "../lib/log.ts"
import { maskLiterals } from "../lib/mask.ts"
import { configFilesOf } from "./command-line.ts"
import { complain, say } from "./terminal.ts"

/** A kernel behind an open port. */
export interface Serving {
  url: string
  /** Takes no new work, lets running turns end within `drainMs`, closes everything. */
  close(drainMs: number): Promise<void>
}

/** Given from above: this room knows neither the kernel nor the API. */
export type StartServing = (parts: {
  config: Config
  environment: Environment
  log: Log
}) => Promise<Serving>

const EXIT_OK = 0
const EXIT_FAILED = 1
const EXIT_CONFIG = 2
/** By custom: 128 and the number of SIGINT. */
const EXIT_IMPATIENT = 130

export async function runServeCommand(args: string[], start: StartServing): Promise<number> {
  const environment = processEnvironment()
  try {
    const loaded = await readConfig(configFilesOf(args), environment)
    return await serve(loaded, environment, start)
  } catch (error) {
    const known = error instanceof KernelError
    await complain(`eva-kernel: ${known ? error.message : errorText(error)}\n`)
    return known && error.code === "config" ? EXIT_CONFIG : EXIT_FAILED
  }
}

interface ReadConfig extends LoadedConfig {
  /** What was found when nobody named a file. */
  found?: { provider: string; why: string }
}

async function readConfig(files: string[], environment: Environment): Promise<ReadConfig> {
  const cwd = process.cwd()
  if (files.length > 0) return loadConfig({ files, environment, cwd })
  const dataDir = dataDirectory(environment)
  const loaded = await defaultConfig({ environment, dataDir, cwd, probe: probeModelServer })
  return { ...loaded, found: { provider: loaded.provider, why: loaded.why } }
}

async function serve(
  loaded: ReadConfig,
  environment: Environment,
  start: StartServing,
): Promise<number> {
  const { config, warnings, found } = loaded
  const log = createLog({
    level: config.log.level,
    human: config.log.format === "human" || (config.log.format === "auto" && isTerminal()),
    write: (line) => void process.stderr.write(line),
    mask: maskLiterals(configSecrets(config)),
  })
  guardProcess(log)
  for (const warning of warnings) log.warn(warning)
  const serving = await start({ config, environment, log })
  await say(greeting(serving.url, config, found))
  log.info("listening", { url: serving.url, database: config.db.path })

  const signal = await untilSignal()
  log.info("stopping", { signal, drain_ms: config.server.drain })
  process.once("SIGINT", () => process.exit(EXIT_IMPATIENT))
  await serving.close(config.server.drain)
  log.info("stopped")
  return EXIT_OK
}

const isTerminal = (): boolean => process.stderr.isTTY === true

/** One stray rejection must not take every turn with it. */
function guardProcess(log: Log): void {
  const report = (message: string) => (error: unknown) => {
    log.error(message, {
      error: error instanceof Error ? (error.stack ?? error.message) : String(error),
    })
  }
  process.on("unhandledRejection", report("unhandled rejection"))
  process.on("uncaughtException", report("uncaught exception"))
}

function untilSignal(): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.once(signal, () => resolve(signal))
  return promise
}

function greeting(url: string, config: Config, found: ReadConfig["found"]): string {
  const provider = found
    ? `${found.provider} (${found.why})`
    : `${config.llm.provider}, ${config.llm.model.general}`
  const token = config.server.token ? ` -H "authorization: Bearer $EVA_TOKEN"` : ""
  const json = `-H "content-type: application/json"`
  return `eva-kernel is listening on ${url}
  provider  ${provider}
  database  ${config.db.path}
  docs      ${url}/apidocs
  try       chat=$(curl -s -X POST ${url}/v1/chats${token} ${json} -d '{}' | sed 's/.*"id":"\\([^"]*\\)".*/\\1/')
            curl -N ${url}/v1/chats/$chat/messages${token} ${json} -d '{"text":"hello"}'
`
}
