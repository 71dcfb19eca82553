/** `eva-kernel config [check | example | reference]`: shows, checks or explains the configuration. */
import type { LoadedConfig } from "../config/build.ts"
import { configExample } from "../config/example.ts"
import { maskConfig } from "../config/mask.ts"
import { printYaml } from "../config/print.ts"
import { configReference } from "../config/reference.ts"
import { processEnvironment } from "../lib/environment.ts"
import { errorText, KernelError } from "../lib/error.ts"
import { argumentsOf } from "./command-line.ts"
import { readConfig } from "./read-config.ts"
import { complain, say } from "./terminal.ts"

const EXIT_OK = 0
const EXIT_WRONG = 2

/** Runs the subcommand with the arguments that follow it; gives the exit code, 0 or 2. */
export async function runConfigCommand(args: string[]): Promise<number> {
  try {
    await say(await textOf(args))
    return EXIT_OK
  } catch (error) {
    if (!(error instanceof KernelError)) throw error
    await complain(`${errorText(error).trimEnd()}\n`)
    return EXIT_WRONG
  }
}

async function textOf(args: string[]): Promise<string> {
  const { options, words } = argumentsOf("config", args)
  switch (words[0]) {
    case "check":
      return `ok: ${(await load(options.config)).sources.join(", ")}\n`
    case "example":
      return configExample()
    case "reference":
      return configReference()
    default:
      return printYaml(maskConfig((await load(options.config)).config))
  }
}

/** What is odd goes to standard error, so that the output alone can be piped into a file. */
async function load(files: string[]): Promise<LoadedConfig> {
  const loaded = await readConfig(files, processEnvironment())
  for (const warning of loaded.warnings) await complain(`warning: ${warning}\n`)
  const { found } = loaded
  if (found) {
    await complain(`no configuration file: provider ${found.provider}, because ${found.why}\n`)
  }
  return loaded
}
