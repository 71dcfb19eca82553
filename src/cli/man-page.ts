/** The manual page in the man macros of roff, out of the table of commands. */
import { version } from "../lib/build-info.ts"
import { COMMANDS, type CommandSpec, GLOBAL_OPTIONS, type OptionSpec } from "./commands.ts"
import { optionWords, usageOf } from "./help.ts"

const SPECS: readonly CommandSpec[] = COMMANDS

const ENVIRONMENT: readonly (readonly [string, string])[] = [
  [
    "EVA_SECTION__KEY",
    "Every setting: EVA_SERVER__LISTEN sets server.listen. The environment wins over files.",
  ],
  [
    "ANTHROPIC_API_KEY, OPENROUTER_API_KEY, OPENAI_API_KEY",
    "The key of a model provider, for a configuration that holds none.",
  ],
  ["XDG_CONFIG_HOME, XDG_DATA_HOME", "Where the directories of configuration and data lie."],
]

const FILES: readonly (readonly [string, string])[] = [
  [
    "~/.config/eva-kernel/config.yaml",
    "What serve, chat and config read when no --config is given.",
  ],
  ["~/.config/eva-kernel/secrets.yaml", "Read after it: keys and the token, mode 0600."],
  ["~/.local/share/eva-kernel/eva.db", "The database, unless db.path names another."],
]

export function manPage(): string {
  return `${[
    `.TH EVA\\-KERNEL 1 "" "eva\\-kernel ${escaped(version)}" "User Commands"`,
    ".SH NAME",
    "eva\\-kernel \\- a home for one person's AI agent",
    ".SH SYNOPSIS",
    ".B eva\\-kernel",
    "[\\fICOMMAND\\fR] [\\fIOPTIONS\\fR]",
    ".SH DESCRIPTION",
    escaped(
      "eva-kernel keeps the chats of one person with an AI agent, runs the turns, calls models and tools, and serves everything over HTTP with server-sent events. All state is one SQLite file. Without a command it serves.",
    ),
    ".SH COMMANDS",
    ...SPECS.flatMap(commandPart),
    ".SH OPTIONS OF EVERY COMMAND",
    ...GLOBAL_OPTIONS.flatMap(optionPart),
    ".SH ENVIRONMENT",
    ...ENVIRONMENT.flatMap(([name, about]) => tagged(bold(name), about)),
    ".SH FILES",
    ...FILES.flatMap(([name, about]) => tagged(`\\fI${escaped(name)}\\fR`, about)),
    ".SH EXIT STATUS",
    ...tagged(bold("0"), "Done."),
    ...tagged(bold("2"), "The command line or the configuration is wrong; one line says how."),
    ...SPECS.flatMap(({ name, exits = [] }) =>
      exits.flatMap(({ code, about }) => tagged(bold(String(code)), `${name}: ${about}.`)),
    ),
  ].join("\n")}\n`
}

function commandPart(command: CommandSpec): string[] {
  const { summary, about, argument, options, examples = [] } = command
  return [
    `.SS ${escaped(usageOf(command))}`,
    escaped(`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`),
    ...about.flatMap((paragraph) => [".PP", escaped(paragraph)]),
    ...(argument ? tagged(bold(argument.name), `${argument.about}.`) : []),
    ...options.flatMap(optionPart),
    ...examples.flatMap(({ line, about: why }) => [
      ".PP",
      `${escaped(why)}:`,
      ".PP",
      ".EX",
      `    ${escaped(line)}`,
      ".EE",
    ]),
  ]
}

function optionPart(option: OptionSpec): string[] {
  const { choices, about } = option
  return tagged(
    bold(optionWords(option)),
    choices ? `${about}: ${choices.join(", ")}.` : `${about}.`,
  )
}

const tagged = (tag: string, text: string): string[] => [".TP", tag, escaped(text)]

const bold = (text: string): string => `\\fB${escaped(text)}\\fR`

/** Text as roff prints it unchanged: no escape, no request at the start, dashes that can be copied. */
const escaped = (text: string): string =>
  text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replace(/^([.'])/, "\\&$1")
