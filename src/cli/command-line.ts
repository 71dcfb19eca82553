/** What the command line asks for, decided from its words alone: no file is read and no room is loaded. */
import { parseArgs } from "node:util"
import { nearest } from "../lib/text.ts"

export const COMMAND_NAMES = ["serve", "config", "help", "version"] as const
export type CommandName = (typeof COMMAND_NAMES)[number]

export type CommandLine =
  | { command: CommandName; args: string[] }
  /** One line for whoever typed it: what is wrong and what would be right. */
  | { problem: string }

const SERVE_OPTIONS = {
  config: { type: "string", short: "c", multiple: true },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean", short: "V" },
} as const

const OPTION_NAMES = Object.entries(SERVE_OPTIONS).flatMap(([name, { short }]) => [
  `--${name}`,
  `-${short}`,
])

/** Reads the arguments after the program's name. Without a command word they belong to `serve`. */
export function readCommandLine(argv: readonly string[]): CommandLine {
  const [first, ...rest] = argv
  if (first === undefined || first.startsWith("-")) return readServe([...argv])
  if (!isCommand(first)) return { problem: unknown("command", first, COMMAND_NAMES) }
  if (first === "serve") return readServe(rest)
  if (first === "help") return readHelp(rest)
  return { command: first, args: rest }
}

/** The configuration files named to `serve`, in order. */
export function configFilesOf(args: readonly string[]): string[] {
  const { values } = parseArgs({ args: [...args], options: SERVE_OPTIONS })
  return values.config ?? []
}

function readServe(args: string[]): CommandLine {
  const { tokens } = parseArgs({ args, options: SERVE_OPTIONS, strict: false, tokens: true })
  for (const token of tokens) {
    if (token.kind === "positional")
      return { problem: `serve takes no argument ${token.value}; a file is named by --config FILE` }
    if (token.kind !== "option") continue
    if (token.name === "help") return { command: "help", args: [] }
    if (token.name === "version") return { command: "version", args: [] }
    if (token.name !== "config") return { problem: unknown("option", token.rawName, OPTION_NAMES) }
    if (!token.value) return { problem: `${token.rawName} needs a file: ${token.rawName} FILE` }
  }
  return { command: "serve", args }
}

function readHelp([topic]: string[]): CommandLine {
  if (topic === undefined) return { command: "help", args: [] }
  if (!isCommand(topic)) return { problem: unknown("command", topic, COMMAND_NAMES) }
  return topic === "config"
    ? { command: "config", args: ["--help"] }
    : { command: "help", args: [] }
}

const isCommand = (word: string): word is CommandName =>
  (COMMAND_NAMES as readonly string[]).includes(word)

function unknown(what: string, word: string, known: readonly string[]): string {
  const near = nearest(word, known)
  const advice = near ? `did you mean ${near}?` : "eva-kernel --help lists what there is"
  return `unknown ${what} ${word}: ${advice}`
}
