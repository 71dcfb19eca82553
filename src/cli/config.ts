/** `eva-kernel config [check | example | reference]`: shows, checks or explains the configuration. */
import { parseArgs } from "node:util"
import type { LoadedConfig } from "../config/build.ts"
import { dataDirectory } from "../config/data-directory.ts"
import { defaultConfig } from "../config/defaults.ts"
import { configExample } from "../config/example.ts"
import { loadConfig } from "../config/load.ts"
import { maskConfig } from "../config/mask.ts"
import { printYaml } from "../config/print.ts"
import { probeModelServer } from "../config/probe.ts"
import { configReference } from "../config/reference.ts"
import { type Environment, processEnvironment } from "../lib/environment.ts"
import { errorText, KernelError } from "../lib/error.ts"
import { complain, say } from "./terminal.ts"

const USAGE = `Usage: eva-kernel config [check | example | reference] [--config FILE]...

  (nothing)   print the merged configuration as YAML, secrets masked
  check       say ok, or what is wrong
  example     print an annotated example with every setting
  reference   print the reference of all settings as Markdown

  -c, --config FILE   a YAML, TOML or JSON file; may be given several times, later files win
`

const EXIT_OK = 0
const EXIT_WRONG = 2

/** Runs the subcommand with the arguments that follow it; gives the exit code, 0 or 2. */
export async function runConfigCommand(args: string[]): Promise<number> {
  try {
    await say(await textOf(args))
    return EXIT_OK
  } catch (error) {
    if (!(error instanceof KernelError) && !isArgumentError(error)) throw error
    await complain(`${errorText(error).trimEnd()}\n`)
    return EXIT_WRONG
  }
}

async function textOf(args: string[]): Promise<string> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      config: { type: "string", short: "c", multiple: true, default: [] },
      help: { type: "boolean", short: "h", default: false },
    },
  })
  const [action = "show", ...rest] = positionals
  if (values.help) return USAGE
  if (rest.length > 0) throw usageError(`too many arguments: ${rest.join(" ")}`)
  switch (action) {
    case "show":
      return printYaml(maskConfig((await load(values.config)).config))
    case "check":
      return `ok: ${(await load(values.config)).sources.join(", ")}\n`
    case "example":
      return configExample()
    case "reference":
      return configReference()
    default:
      throw usageError(`there is no action ${action}`)
  }
}

const usageError = (what: string): KernelError => new KernelError("invalid", `${what}\n\n${USAGE}`)

/** What is odd goes to standard error, so that the output alone can be piped into a file. */
async function load(files: string[]): Promise<LoadedConfig> {
  const environment = processEnvironment()
  const cwd = process.cwd()
  const loaded =
    files.length > 0
      ? await loadConfig({ files, environment, cwd })
      : await loadDefaults(environment, cwd)
  for (const warning of loaded.warnings) await complain(`warning: ${warning}\n`)
  return loaded
}

async function loadDefaults(environment: Environment, cwd: string): Promise<LoadedConfig> {
  const dataDir = dataDirectory(environment)
  const found = await defaultConfig({ environment, dataDir, cwd, probe: probeModelServer })
  await complain(`no configuration file: provider ${found.provider}, because ${found.why}\n`)
  return found
}

const isArgumentError = (error: unknown): boolean =>
  error instanceof TypeError &&
  String((error as NodeJS.ErrnoException).code).startsWith("ERR_PARSE_ARGS")
