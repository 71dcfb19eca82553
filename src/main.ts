/**
 * The program: argv → one command. What a command needs is imported when it runs, so that version, help
 * and usage errors answer without loading the kernel.
 */
import { type CommandName, readCommandLine } from "./cli/command-line.ts"
import { complain, say } from "./cli/terminal.ts"

const EXIT_OK = 0
const EXIT_USAGE = 2

/** Each takes the arguments after its own name and gives the exit code. */
const COMMANDS: Record<CommandName, (args: string[]) => Promise<number>> = {
  serve: async (args) => {
    const [{ runServeCommand }, { startServing }] = await Promise.all([
      import("./cli/serve.ts"),
      import("./kernel/serving.ts"),
    ])
    return runServeCommand(args, startServing)
  },
  config: async (args) => (await import("./cli/config.ts")).runConfigCommand(args),
  help: async () => {
    await say((await import("./cli/help.ts")).HELP)
    return EXIT_OK
  },
  version: async () => {
    const { version, commit } = await import("./lib/build-info.ts")
    await say(`eva-kernel ${version} (${commit})\n`)
    return EXIT_OK
  },
}

async function run(argv: readonly string[]): Promise<number> {
  const line = readCommandLine(argv)
  if ("command" in line) return COMMANDS[line.command](line.args)
  await complain(`eva-kernel: ${line.problem}\n`)
  return EXIT_USAGE
}

process.exit(await run(process.argv.slice(2)))
