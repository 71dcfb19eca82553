/**
 * Every command of the program with its options, as data. Parsing, help, shell completions and the man page
 * are all computed from this one table, so none of them can say something else than the others.
 */

import type { Effort } from "../schema/effort.ts"

export interface OptionSpec {
  /** The long name, without dashes. */
  name: string
  /** The letter after a single dash. */
  short?: string
  /** What follows it, in capitals as help shows it; absent: a switch. */
  value?: string
  /** May be given several times. */
  repeatable?: true
  /** The only values there are. */
  choices?: readonly string[]
  about: string
}

export interface ArgumentSpec {
  /** In capitals, as help shows it. */
  name: string
  choices?: readonly string[]
  optional?: true
  /** Takes every word that follows. */
  rest?: true
  about: string
}

export interface CommandSpec {
  name: string
  /** One line, for the list of commands. */
  summary: string
  /** Paragraphs for its own help and for the man page. */
  about: readonly string[]
  argument?: ArgumentSpec
  options: readonly OptionSpec[]
  examples?: readonly { line: string; about: string }[]
  /** Exit codes beside 0 and 2, which every command shares. */
  exits?: readonly { code: number; about: string }[]
}

const CONFIG = {
  name: "config",
  short: "c",
  value: "FILE",
  repeatable: true,
  about: "a YAML, TOML or JSON file; may be given several times, later files win",
} as const satisfies OptionSpec

/** Every command takes these. */
export const GLOBAL_OPTIONS = [
  { name: "help", short: "h", about: "show this text" },
  { name: "version", short: "V", about: "show version and commit" },
] as const satisfies readonly OptionSpec[]

/** Written out, since the schema's own list would load its library before any command runs. */
const EFFORTS = ["off", "low", "mid", "high"] as const satisfies readonly Effort[]
export const SHELLS = ["bash", "zsh", "fish"] as const
export const CONFIG_ACTIONS = ["check", "example", "reference"] as const
export const COMMANDS = [
  {
    name: "serve",
    summary: "run the kernel until it is stopped (this is the default)",
    about: [
      "Opens the database, listens, and runs turns until SIGTERM or SIGINT. Running turns may then end within server.drain; a second SIGINT ends at once.",
      "Without --config it reads config.yaml, and secrets.yaml beside it, in the configuration directory of the user, where eva-kernel init writes them. Without these it starts with what it finds: data in the data directory of the user, 127.0.0.1:8090, and the first model provider it has a key for or that answers on this machine, else a mock.",
    ],
    options: [CONFIG],
    examples: [
      { line: "eva-kernel", about: "serve with the user's configuration, or with none" },
      {
        line: "eva-kernel serve -c config.yaml -c secrets.yaml",
        about: "serve with two files, the second over the first",
      },
    ],
    exits: [
      { code: 1, about: "the kernel could not start or failed" },
      { code: 130, about: "stopped by a second SIGINT" },
    ],
  },
  {
    name: "chat",
    summary: "talk to the agent in the terminal, or say one thing from a script",
    about: [
      "Talks to the kernel of --url, else to the one that serves the configured database on this machine, else to one that it starts for as long as it runs. With a terminal it opens the last chat on the full screen.",
      "With -p, or with text piped in, it says that, prints the answer to standard output and its steps to standard error, and ends. A text that is piped in follows the one of -p. Ctrl-C cancels the turn; a second one leaves at once.",
    ],
    options: [
      { name: "prompt", short: "p", value: "TEXT", about: "say this and print the answer" },
      { name: "chat", value: "ID", about: "the chat to open or to speak in" },
      { name: "new", about: "a new chat; without a screen that is the default" },
      { name: "last", about: "the chat that the screen had open last; there that is the default" },
      {
        name: "code",
        value: "DIR",
        about: "a new chat that works in this folder, asking before it writes or runs anything",
      },
      { name: "model", value: "NAME", about: "the model that answers" },
      { name: "effort", value: "LEVEL", choices: EFFORTS, about: "how hard it thinks" },
      { name: "json", about: "print every event of the turn, one a line" },
      { name: "quiet", short: "q", about: "print the final answer alone" },
      { name: "url", value: "URL", about: "the kernel to talk to; EVA_URL means the same" },
      { name: "token", value: "TOKEN", about: "its token; EVA_TOKEN means the same, unseen by ps" },
      CONFIG,
    ],
    examples: [
      { line: "eva-kernel chat", about: "go on where you left" },
      { line: 'eva-kernel chat -p "What is on today?"', about: "ask one thing" },
      {
        line: 'git diff | eva-kernel chat -qp "Write a commit message"',
        about: "ask about a text",
      },
    ],
    exits: [
      { code: 1, about: "the turn failed, or the kernel went away for good" },
      { code: 130, about: "the turn was cancelled" },
    ],
  },
  {
    name: "init",
    summary: "set up: find a model, try it, write the configuration and a token",
    about: [
      "Looks for API keys in the environment and for model servers on this machine (Ollama, llama-server, LM Studio, vLLM), asks for what it cannot find, makes one call to the model, and writes a commented config.yaml and a secrets.yaml that only you can read.",
      "Running it again does no harm: what is there is kept, what is missing is added, and a file is changed only after a question and a copy.",
    ],
    options: [
      {
        name: "config",
        short: "c",
        value: "FILE",
        about: "write this file, and secrets.yaml beside it, instead of the usual place",
      },
      { name: "yes", short: "y", about: "ask nothing: take what is found, else the mock" },
      { name: "service", about: "also write a service file of systemd or launchd for this user" },
      { name: "no-call", about: "do not call the model" },
    ],
    examples: [
      { line: "eva-kernel init", about: "two questions, then talk" },
      { line: "eva-kernel init --yes", about: "the same on a machine, without questions" },
    ],
    exits: [
      { code: 1, about: "the configuration is written, but the model did not answer" },
      { code: 130, about: "given up at a question; nothing is written" },
    ],
  },
  {
    name: "config",
    summary: "show, check or exemplify the configuration",
    about: [
      "Without an action it prints the merged configuration as YAML, secrets masked. check says ok or what is wrong, example prints an annotated example with every setting, reference prints the reference of all settings as Markdown.",
    ],
    argument: {
      name: "ACTION",
      choices: CONFIG_ACTIONS,
      optional: true,
      about: "what to do instead of showing the configuration",
    },
    options: [CONFIG],
  },
  {
    name: "completions",
    summary: "print the completions of a shell",
    about: ["Prints a script that completes commands, options and their values."],
    argument: { name: "SHELL", choices: SHELLS, about: "the shell that is to complete" },
    options: [],
    examples: [
      {
        line: "eva-kernel completions bash > ~/.local/share/bash-completion/completions/eva-kernel",
        about: "for bash",
      },
      {
        line: 'eva-kernel completions zsh > "$fpath[1]/_eva-kernel"',
        about: "for zsh",
      },
      {
        line: "eva-kernel completions fish > ~/.config/fish/completions/eva-kernel.fish",
        about: "for fish",
      },
    ],
  },
  {
    name: "man",
    summary: "print the manual page",
    about: ["Prints the manual page in the format of man."],
    options: [],
    examples: [{ line: "eva-kernel man | man -l -", about: "read it" }],
  },
  {
    name: "help",
    summary: "show what there is, or the help of one command",
    about: ["The same as --help, or as COMMAND --help."],
    argument: { name: "COMMAND", optional: true, about: "the command to explain" },
    options: [],
  },
  {
    name: "version",
    summary: "show version and commit",
    about: ["The same as --version."],
    options: [],
  },
] as const satisfies readonly CommandSpec[]

export type Commands = typeof COMMANDS
export type CommandName = Commands[number]["name"]

export const COMMAND_NAMES: readonly CommandName[] = COMMANDS.map(({ name }) => name)

/** The spec of a command, without the literal types of the table. */
export const commandSpec = (name: CommandName): CommandSpec =>
  COMMANDS.find((command) => command.name === name)!

/** The options of a command with those that every command takes. */
export const optionsOf = (command: CommandSpec): readonly OptionSpec[] => [
  ...command.options,
  ...GLOBAL_OPTIONS,
]
