/** The text of `eva-kernel --help` and of `eva-kernel COMMAND --help`, out of the table of commands. */
import {
  COMMANDS,
  type CommandName,
  type CommandSpec,
  commandSpec,
  GLOBAL_OPTIONS,
  type OptionSpec,
  optionsOf,
} from "./commands.ts"

const LINE_CHARS = 96

const ENVIRONMENT = `Without --config the files that init writes are read: config.yaml and secrets.yaml in the
configuration directory of the user (XDG_CONFIG_HOME). Every setting can also come from the
environment: EVA_SERVER__LISTEN sets server.listen. Without any configuration the kernel keeps
its data in the data directory of the user (XDG_DATA_HOME), listens on 127.0.0.1:8090, and takes
the first model provider it finds a key for; without one it answers from a mock.`

/** What there is. */
export function overview(): string {
  const commands = COMMANDS.map(({ name, summary }) => [name, summary] as const)
  const serve = commandSpec("serve")
  return [
    "eva-kernel: a home for one person's AI agent",
    "",
    "Usage: eva-kernel [COMMAND] [OPTIONS]",
    "",
    "Commands",
    ...columns(commands),
    "",
    "Options of serve",
    ...columns([...serve.options, ...GLOBAL_OPTIONS].map(optionRow)),
    "",
    "eva-kernel COMMAND --help explains a command, eva-kernel init sets everything up.",
    "",
    ENVIRONMENT,
    "",
  ].join("\n")
}

/** The help of one command. */
export function commandHelp(name: CommandName): string {
  const command = commandSpec(name)
  const { about, argument, examples, exits } = command
  const parts = [
    [`Usage: eva-kernel ${usageOf(command)}`],
    ...about.map((text) => wrap(text, LINE_CHARS)),
    ...(argument ? [["Argument", ...columns([[argumentWord(argument), argument.about]])]] : []),
    ["Options", ...columns(optionsOf(command).map(optionRow))],
    ...(examples ? [["Examples", ...examples.flatMap(exampleLines)]] : []),
    ...(exits
      ? [["Exit codes", ...columns(exits.map(({ code, about: why }) => [String(code), why]))]]
      : []),
  ]
  return `${parts.map((lines) => lines.join("\n")).join("\n\n")}\n`
}

/** `config [check | example | reference] [OPTIONS]` */
export function usageOf({ name, argument }: CommandSpec): string {
  const word = argument && argumentWord(argument)
  const shown = word && (argument.optional ? `[${word}]` : word)
  return [name, ...(shown ? [shown] : []), "[OPTIONS]"].join(" ")
}

/** `-c, --config FILE` */
export const optionWords = ({ name, short, value }: OptionSpec): string =>
  `${short ? `-${short}, ` : ""}--${name}${value ? ` ${value}` : ""}`

const argumentWord = ({ name, choices }: NonNullable<CommandSpec["argument"]>): string =>
  choices ? choices.join(" | ") : name

const optionRow = (option: OptionSpec): readonly [string, string] => {
  const { short, choices, about } = option
  const indent = short ? "" : "    "
  return [`${indent}${optionWords(option)}`, choices ? `${about}: ${choices.join(", ")}` : about]
}

const exampleLines = ({ line, about }: { line: string; about: string }): string[] => [
  `  ${line}`,
  `      ${about}`,
]

/** Two columns, the second wrapped beside the first. */
function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length))
  return rows.flatMap(([left, right]) =>
    wrap(right, LINE_CHARS - width - 5).map(
      (line, i) => `  ${(i === 0 ? left : "").padEnd(width)}   ${line}`,
    ),
  )
}

function wrap(text: string, chars: number): string[] {
  const lines: string[] = []
  let line = ""
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > chars) {
      lines.push(line)
      line = word
    } else {
      line = line === "" ? word : `${line} ${word}`
    }
  }
  return [...lines, line]
}
