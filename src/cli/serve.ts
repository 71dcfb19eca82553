/** `eva-kernel serve`: reads the configuration, opens the door, and closes it in order when told to stop. */
import { setImmediate as nextRound } from "node:timers/promises"
import { isatty } from "node:tty"
import { configSecrets } from "../config/mask.ts"
import type { Config } from "../config/schema.ts"
import { deferred, settledWithin } from "../lib/async.ts"
import { type Environment, processEnvironment } from "../lib/environment.ts"
import { errorText, KernelError } from "../lib/error.ts"
import { createLog, type Log } from "../lib/log.ts"
import { maskLiterals } from "../lib/mask.ts"
import { configFilesOf } from "./command-line.ts"
import { type ReadConfig, readConfig } from "./read-config.ts"
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
  /** It lives in a chat client and ends with it. */
  transient?: boolean
}) => Promise<Serving>

const EXIT_OK = 0
const EXIT_FAILED = 1
const EXIT_CONFIG = 2
/** By custom: 128 and the number of SIGINT. */
const EXIT_IMPATIENT = 130
/** What a stop may take beyond the drain: cancelled turns store what they have, the file is closed. */
const CLOSE_MAX_MS = 10_000

export async function runServeCommand(args: string[], start: StartServing): Promise<number> {
  const environment = processEnvironment()
  try {
    const loaded = await readConfig(configFilesOf(args), environment)
    return await serve(loaded, environment, start)
  } catch (error) {
    await complain(complaint(error))
    return error instanceof KernelError && error.code === "config" ? EXIT_CONFIG : EXIT_FAILED
  }
}

/** A line for each problem, each with the key it is about. */
function complaint(error: unknown): string {
  if (!(error instanceof KernelError)) return `eva-kernel: ${errorText(error)}\n`
  const { message, path } = error
  const named = path === undefined || message.startsWith(`${path}: `)
  const text = named ? message : `${path}: ${message}`
  return text.replaceAll(/^(?=.)/gm, "eva-kernel: ") + "\n"
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
    write: errorLines(),
    mask: maskLiterals(configSecrets(config)),
  })
  guardProcess(log)
  const starting = start({ config, environment, log })
  // Whoever waits for the open port is answered before the first line loads what writes it.
  await Promise.allSettled([starting]).then(() => nextRound())
  for (const warning of warnings) log.warn(warning)
  const serving = await starting
  const stop = untilSignal()
  // Whoever started it may not read what it says; that is no reason not to serve.
  await say(greeting(serving.url, config, found)).catch(() => {})
  log.info("listening", { url: serving.url, database: config.db.path })

  const signal = await stop
  const { drain } = config.server
  log.info("stopping", { signal, drain_ms: drain })
  const closing = serving.close(drain)
  if (!(await settledWithin(closing, drain + CLOSE_MAX_MS))) {
    log.error("the kernel did not stop in time; what was stored is safe")
    return EXIT_FAILED
  }
  await closing
  log.info("stopped")
  return EXIT_OK
}

const isTerminal = (): boolean => isatty(2)

/**
 * Lines to standard error, in order and without waiting. `process.stderr` would do the same, but its first use
 * costs some fifteen milliseconds of the start. A reader that is gone loses the lines, never the kernel.
 */
function errorLines(): (line: string) => void {
  const sink = Bun.stderr.writer()
  // A closed pipe throws at once, or rejects later, as the moment will have it.
  const send = async (line: string) => {
    sink.write(line)
    await sink.flush()
  }
  return (line) => {
    send(line).catch(() => {})
  }
}

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

/** The first signal asks for an orderly stop. After it only Ctrl-C is heard: it ends the process at once. */
function untilSignal(): Promise<string> {
  const { promise, resolve } = deferred<string>()
  let stopping = false
  const hear = (signal: string) => {
    if (stopping && signal === "SIGINT") process.exit(EXIT_IMPATIENT)
    stopping = true
    resolve(signal)
  }
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, hear)
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
