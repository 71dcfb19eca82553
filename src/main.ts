/**
 * The program: argv → one command. What a command needs is imported when it runs, so that version, help
 * and usage errors answer without loading the kernel.
 */
import { readCommandLine } from "./cli/command-line.ts"
import type { CommandName } from "./cli/commands.ts"
import type { StartServing } from "./cli/serve.ts"
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
  chat: async (args) => {
    const { runChatCommand } = await import("./cli/chat.ts")
    // The kernel itself is needed only when none runs yet.
    const start: StartServing = async (parts) =>
      (await import("./kernel/serving.ts")).startServing(parts)
    return runChatCommand(args, start)
  },
  init: async (args) => {
    const [{ runInitCommand }, { callModel }] = await Promise.all([
      import("./cli/init/init.ts"),
      import("./kernel/try-model.ts"),
    ])
    return runInitCommand(args, callModel)
  },
  config: async (args) => (await import("./cli/config.ts")).runConfigCommand(args),
  completions: async (args) =>
    print((await import("./cli/completions.ts")).completionsCommand(args)),
  man: async () => print((await import("./cli/man-page.ts")).manPage()),
  help: async () => print((await import("./cli/help.ts")).overview()),
  version: async () => {
    const { version, commit } = await import("./lib/build-info.ts")
    return print(`eva-kernel ${version} (${commit})\n`)
  },
}

async function run(argv: readonly string[]): Promise<number> {
  const line = readCommandLine(argv)
  if ("problem" in line) {
    await complain(`eva-kernel: ${line.problem}\n`)
    return EXIT_USAGE
  }
  const { command, args } = line
  if (args[0] === "--help") return print((await import("./cli/help.ts")).commandHelp(command))
  return COMMANDS[command](args)
}

async function print(text: string): Promise<number> {
  await say(text)
  return EXIT_OK
}

process.exit(await run(process.argv.slice(2)))
