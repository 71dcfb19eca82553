/** Completion scripts for bash, zsh and fish, out of the table of commands. */
import { argumentsOf } from "./command-line.ts"
import {
  COMMAND_NAMES,
  COMMANDS,
  type CommandSpec,
  GLOBAL_OPTIONS,
  type OptionSpec,
  optionsOf,
  SHELLS,
} from "./commands.ts"

type Shell = (typeof SHELLS)[number]

const SPECS: readonly CommandSpec[] = COMMANDS

/** `eva-kernel completions SHELL` with arguments already found right. */
export function completionsCommand(args: readonly string[]): string {
  const { words } = argumentsOf("completions", args)
  return completions(SHELLS.find((shell) => shell === words[0])!)
}

export function completions(shell: Shell): string {
  switch (shell) {
    case "bash":
      return bash()
    case "zsh":
      return zsh()
    case "fish":
      return fish()
  }
}

const isFile = ({ value }: OptionSpec): boolean => value === "FILE"

const spellings = ({ name, short }: OptionSpec): string[] => [
  ...(short ? [`-${short}`] : []),
  `--${name}`,
]

/** What may stand in the place of a command's argument. */
const argumentWords = ({ name, argument }: CommandSpec): readonly string[] =>
  name === "help" ? COMMAND_NAMES : (argument?.choices ?? [])

/** Before a command word there are the options of `serve`. */
const DEFAULT_COMMAND = SPECS.find(({ name }) => name === "serve")!

function bash(): string {
  return `# bash completion for eva-kernel
_eva_kernel() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  local command="" word words=""
  COMPREPLY=()
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in
      ${COMMAND_NAMES.join("|")}) command="$word"; break ;;
    esac
  done
  case "$command:$previous" in
${SPECS.flatMap(bashValues).join("\n")}
  esac
  case "$command" in
    "") words="${[...COMMAND_NAMES, ...optionsOf(DEFAULT_COMMAND).flatMap(spellings)].join(" ")}" ;;
${SPECS.map(bashWords).join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _eva_kernel eva-kernel
`
}

function bashValues(command: CommandSpec): string[] {
  return command.options.flatMap((option) => {
    if (option.value === undefined) return []
    const owners = command === DEFAULT_COMMAND ? [command.name, ""] : [command.name]
    const pattern = owners
      .flatMap((owner) => spellings(option).map((spelling) => `${owner}:${spelling}`))
      .join("|")
    return [`    ${pattern}) ${bashValue(option)}return ;;`]
  })
}

function bashValue(option: OptionSpec): string {
  if (isFile(option))
    return 'compopt -o default 2>/dev/null; COMPREPLY=($(compgen -f -- "$current")); '
  return option.choices
    ? `COMPREPLY=($(compgen -W "${option.choices.join(" ")}" -- "$current")); `
    : ""
}

const bashWords = (command: CommandSpec): string =>
  `    ${command.name}) words="${[...argumentWords(command), ...optionsOf(command).flatMap(spellings)].join(" ")}" ;;`

function zsh(): string {
  return `#compdef eva-kernel
# zsh completion for eva-kernel
_eva_kernel() {
  local line state
  _arguments -C \\
${optionsOf(DEFAULT_COMMAND).map(zshOption).join("\n")}
    '1: :->command' \\
    '*:: :->rest'
  case $state in
    command)
      local -a commands=(
${SPECS.map(({ name, summary }) => `        ${quoted(`${name}:${summary}`)}`).join("\n")}
      )
      _describe command commands ;;
    rest)
      case $line[1] in
${SPECS.map(zshCommand).join("\n")}
      esac ;;
  esac
}
if [ "$funcstack[1]" = "_eva_kernel" ]; then
  _eva_kernel "$@"
else
  compdef _eva_kernel eva-kernel
fi
`
}

function zshCommand(command: CommandSpec): string {
  const words = argumentWords(command)
  const lines = optionsOf(command).map((option) => `    ${zshOption(option)}`)
  const argument =
    words.length > 0
      ? [`        ${quoted(`1:${command.argument?.name.toLowerCase()}:(${words.join(" ")})`)}`]
      : []
  return `        ${command.name})
          _arguments \\
${[...lines, ...argument].join("\n").replace(/ \\$/, "")} ;;`
}

function zshOption(option: OptionSpec): string {
  const { repeatable, value, choices, about } = option
  const action = isFile(option) ? "_files" : choices ? `(${choices.join(" ")})` : " "
  const tail = `[${about.replaceAll("[", "\\[").replaceAll("]", "\\]")}]${value ? `:${value.toLowerCase()}:${action}` : ""}`
  const names = spellings(option)
  const exclusive = repeatable ? "'*'" : `'(${names.join(" ")})'`
  const spelled = names.length > 1 ? `{${names.join(",")}}` : names[0]
  return `    ${exclusive}${spelled}${quoted(tail)} \\`
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

function fish(): string {
  const names = COMMAND_NAMES.join(" ")
  return `# fish completion for eva-kernel
complete -c eva-kernel -f
${SPECS.map(({ name, summary }) => `complete -c eva-kernel -n "not __fish_seen_subcommand_from ${names}" -a ${name} -d ${quoted(summary)}`).join("\n")}
${GLOBAL_OPTIONS.map((option) => fishOption(option, "")).join("\n")}
${DEFAULT_COMMAND.options.map((option) => fishOption(option, `not __fish_seen_subcommand_from ${names}`)).join("\n")}
${SPECS.flatMap(fishCommand).join("\n")}
`
}

function fishCommand(command: CommandSpec): string[] {
  const within = `__fish_seen_subcommand_from ${command.name}`
  const words = argumentWords(command)
  return [
    ...command.options.map((option) => fishOption(option, within)),
    ...(words.length > 0
      ? [`complete -c eva-kernel -n "${within}" -a ${quoted(words.join(" "))}`]
      : []),
  ]
}

function fishOption(option: OptionSpec, condition: string): string {
  const { name, short, value, choices, about } = option
  return [
    "complete -c eva-kernel",
    condition && `-n "${condition}"`,
    short && `-s ${short}`,
    `-l ${name}`,
    value && (isFile(option) ? "-r -F" : "-x"),
    choices && `-a ${quoted(choices.join(" "))}`,
    `-d ${quoted(about)}`,
  ]
    .filter(Boolean)
    .join(" ")
}
