/** What the command line asks for, decided from its words alone: no file is read and no room is loaded. */
import { type ParseArgsOptionsConfig, parseArgs } from "node:util"
import { KernelError } from "../lib/error.ts"
import { nearest } from "../lib/text.ts"
import {
  COMMAND_NAMES,
  type CommandName,
  type CommandSpec,
  type Commands,
  commandSpec,
  type OptionSpec,
  optionsOf,
} from "./commands.ts"

/**
 * `args` follow the command's name as they were typed, already found right. `["--help"]` alone asks for the
 * help of the command. A `problem` is one line for whoever typed it: what is wrong and what would be right.
 */
export type CommandLine = { command: CommandName; args: string[] } | { problem: string }

type Specs<Name extends CommandName> = Extract<Commands[number], { name: Name }>["options"][number]
type ValueOf<Spec> = Spec extends { value: string }
  ? Spec extends { repeatable: true }
    ? string[]
    : string | undefined
  : boolean

/** The values of a command's options by their long names. */
export type OptionValues<Name extends CommandName> = {
  [Spec in Specs<Name> as Spec["name"]]: ValueOf<Spec>
}

/** Reads the arguments after the program's name. Without a command word they belong to `serve`. */
export function readCommandLine(argv: readonly string[]): CommandLine {
  const [first, ...rest] = argv
  if (first === undefined || first.startsWith("-")) return readDefault([...argv])
  if (!isCommand(first)) return { problem: unknown("command", first, COMMAND_NAMES) }
  if (first === "help") return readHelp(rest)
  const asked = readArguments(commandSpec(first), rest)
  if ("problem" in asked) return asked
  if (asked.switches.has("help")) return { command: first, args: ["--help"] }
  if (asked.switches.has("version")) return { command: "version", args: [] }
  return { command: first, args: rest }
}

/** The options and words of a command's arguments. Throws KernelError("invalid") when they are wrong. */
export function argumentsOf<Name extends CommandName>(
  command: Name,
  args: readonly string[],
): { options: OptionValues<Name>; words: string[] } {
  const spec = commandSpec(command)
  const read = readArguments(spec, args)
  if ("problem" in read) throw new KernelError("invalid", read.problem)
  const options = Object.fromEntries(
    spec.options.map(({ name, value, repeatable }) => {
      const values = read.values.get(name) ?? []
      if (value === undefined) return [name, read.switches.has(name)]
      return [name, repeatable ? values : values.at(-1)]
    }),
  )
  return { options: options as OptionValues<Name>, words: read.words }
}

/** The configuration files named to `serve`, in order. */
export const configFilesOf = (args: readonly string[]): string[] =>
  argumentsOf("serve", args).options.config

/** `eva-kernel` alone serves; with --help or --version it speaks about the program. */
function readDefault(args: string[]): CommandLine {
  const asked = readArguments(commandSpec("serve"), args)
  if ("problem" in asked) return asked
  if (asked.switches.has("help")) return { command: "help", args: [] }
  if (asked.switches.has("version")) return { command: "version", args: [] }
  return { command: "serve", args }
}

function readHelp([topic]: string[]): CommandLine {
  if (topic === undefined || topic.startsWith("-")) return { command: "help", args: [] }
  return isCommand(topic)
    ? { command: topic, args: ["--help"] }
    : { problem: unknown("command", topic, COMMAND_NAMES) }
}

interface Arguments {
  switches: Set<string>
  values: Map<string, string[]>
  words: string[]
}

/** Checks the arguments against the command's definition; help and version end the reading. */
export function readArguments(
  command: CommandSpec,
  args: readonly string[],
): Arguments | { problem: string } {
  const specs = optionsOf(command)
  const { tokens } = parseArgs({
    args: [...args],
    options: parserOptions(specs),
    strict: false,
    tokens: true,
  })
  const read: Arguments = { switches: new Set(), values: new Map(), words: [] }
  for (const token of tokens) {
    if (token.kind === "option-terminator") continue
    if (token.kind === "positional") {
      read.words.push(token.value)
      continue
    }
    const spec = specs.find(({ name }) => name === token.name)
    if (!spec) return { problem: unknown("option", token.rawName, optionNames(specs)) }
    if (spec.name === "help" || spec.name === "version") {
      return { switches: new Set([spec.name]), values: new Map(), words: [] }
    }
    const problem = optionProblem(spec, token)
    if (problem) return { problem }
    if (spec.value === undefined) read.switches.add(spec.name)
    else read.values.set(spec.name, [...(read.values.get(spec.name) ?? []), token.value!])
  }
  const problem = wordsProblem(command, read.words)
  return problem === undefined ? read : { problem }
}

const parserOptions = (specs: readonly OptionSpec[]): ParseArgsOptionsConfig =>
  Object.fromEntries(
    specs.map(({ name, short, value }) => [
      name,
      { type: value === undefined ? "boolean" : "string", ...(short && { short }) } as const,
    ]),
  )

function optionProblem(
  spec: OptionSpec,
  { rawName, value }: { rawName: string; value: string | undefined },
): string | undefined {
  if (spec.value === undefined) {
    return value === undefined ? undefined : `${rawName} takes no value; it was given ${value}`
  }
  // An empty text may be meant; an empty file, address or name never is.
  if (value === undefined || (value === "" && spec.value !== "TEXT")) {
    return `${rawName} needs ${withArticle(spec.value)}: ${rawName} ${spec.value}`
  }
  return spec.choices && !spec.choices.includes(value)
    ? `${rawName} is one of ${spec.choices.join(", ")}; it was given ${value}`
    : undefined
}

function wordsProblem({ name, argument }: CommandSpec, words: string[]): string | undefined {
  const [first, second] = words
  if (!argument) {
    if (first === undefined) return undefined
    const file = name === "serve" ? "; a file is named by --config FILE" : ""
    return `${name} takes no argument ${first}${file}`
  }
  const { choices, optional, rest } = argument
  if (first === undefined) {
    const which = choices ? `: ${choices.join(", ")}` : ""
    return optional ? undefined : `${name} needs ${withArticle(argument.name)}${which}`
  }
  if (choices && !choices.includes(first)) {
    return unknown(argument.name.toLowerCase(), first, choices)
  }
  return second !== undefined && !rest ? `${name} takes no second argument ${second}` : undefined
}

const withArticle = (noun: string): string =>
  `${/^[AEIO]/.test(noun) ? "an" : "a"} ${noun.toLowerCase()}`

const optionNames = (specs: readonly OptionSpec[]): string[] =>
  specs.flatMap(({ name, short }) => [`--${name}`, ...(short ? [`-${short}`] : [])])

const isCommand = (word: string): word is CommandName =>
  (COMMAND_NAMES as readonly string[]).includes(word)

function unknown(what: string, word: string, known: readonly string[]): string {
  const near = nearest(word, known)
  const advice = near ? `did you mean ${near}?` : "eva-kernel --help lists what there is"
  return `unknown ${what} ${word}: ${advice}`
}
