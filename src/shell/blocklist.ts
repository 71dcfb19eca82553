/**
 * Commands that no setting, no set of tools and no permission lets through: those that ruin a machine at
 * one stroke and that nobody asks an agent for. It is a seat belt against a slip, not a wall against
 * intent: who wants to can write the same in a script.
 */
import { type SimpleCommand, simpleCommands } from "./words.ts"

interface Rule {
  /** What it would do: completes "refused: this would …". */
  would: string
  matches(program: string, args: readonly string[]): boolean
}

/** Folders without which the system or a person's files are gone. */
const PRECIOUS =
  /^(?:\/|\/(?:bin|boot|dev|etc|home|lib|lib64|opt|proc|root|sbin|srv|sys|usr|var|Users|System|Library|Applications)|~|\$HOME|\$\{HOME\}|\/(?:home|Users)\/[^/]+)(?:\/+\.?)?(?:\/?\*)?$/
const DISK = /^\/dev\/(?:sd|hd|vd|xvd|nvme|mmcblk|disk|mapper\/|dm-|md)/

const flagsOf = (args: readonly string[]): string[] => args.filter((arg) => arg.startsWith("-"))

const isRecursive = (args: readonly string[]): boolean =>
  flagsOf(args).some((flag) => flag === "--recursive" || /^-[a-zA-Z]*[rR]/.test(flag))

const RULES: readonly Rule[] = [
  {
    would: "erase the system or a whole home",
    matches: (program, args) =>
      program === "rm" && isRecursive(args) && args.some((arg) => PRECIOUS.test(arg)),
  },
  {
    would: "erase the system or a whole home",
    matches: (program, args) =>
      program === "find" &&
      PRECIOUS.test(args.find((arg) => !arg.startsWith("-")) ?? "") &&
      args.includes("-delete") &&
      !args.some((arg) => /^-i?(?:name|path|regex|wholename)$/.test(arg)),
  },
  {
    would: "make a new file system over what is on a disk",
    matches: (program, args) =>
      (/^mkfs(?:\.|$)/.test(program) || program === "wipefs" || program === "mkswap") &&
      args.some((arg) => DISK.test(arg)),
  },
  {
    would: "overwrite a disk",
    matches: (program, args) =>
      (program === "dd" && args.some((arg) => DISK.test(arg.replace(/^of=/, "\0").slice(1)))) ||
      (program === "shred" && args.some((arg) => DISK.test(arg))) ||
      args.some((arg) => arg.startsWith(">") && DISK.test(arg.slice(1).trim())),
  },
  {
    would: "change the owner or the rights of the whole system",
    matches: (program, args) =>
      /^ch(?:mod|own|grp)$/.test(program) &&
      isRecursive(args) &&
      args.some((arg) => /^\/(?:\*|bin|etc|lib|lib64|sbin|usr|var)?\/?$/.test(arg)),
  },
  {
    would: "end every process of the machine",
    matches: (program, args) => program === "kill" && args.at(-1) === "-1" && args.length > 1,
  },
]

/** `name() { name | name & }`: doubles itself until nothing runs any more. */
const FORK_BOMB = /([\w:.]+)\s*\(\)\s*\{\s*\1\s*\|\s*\1\s*&\s*\}/

/** Programs that run what follows them. */
const CARRIERS = new Set(
  "sudo doas env nohup time nice ionice exec command builtin setsid stdbuf timeout xargs".split(
    " ",
  ),
)
const SHELLS = /^(?:ba|da|z|k|a)?sh$/
/** Shells within shells that are looked into. */
const DEPTH_MAX = 4

/** Why the command is never run, as a sentence for the model; undefined when it may. */
export function forbidden(line: string, depth = 0): string | undefined {
  if (FORK_BOMB.test(line)) return refusal("fill the machine with copies of itself")
  for (const command of simpleCommands(line)) {
    const { program, args } = programOf(command)
    const inner = depth < DEPTH_MAX ? innerLine(program, args) : undefined
    const found = inner === undefined ? undefined : forbidden(inner, depth + 1)
    if (found !== undefined) return found
    const rule = RULES.find((each) => each.matches(program, args))
    if (rule) return refusal(rule.would)
  }
  return undefined
}

const refusal = (would: string): string =>
  `Refused: this would ${would}. No setting allows it; if it is really meant, the master has to do it by hand.`

/** The program behind assignments and carriers such as `sudo -u root`. */
function programOf(command: SimpleCommand): { program: string; args: readonly string[] } {
  let at = 0
  const isPrefix = (word: string) => /^[A-Za-z_]\w*=/.test(word) || word === "{" || word === "!"
  while (at < command.length && isPrefix(command[at]!)) at++
  while (at < command.length && CARRIERS.has(baseName(command[at]!))) {
    at++
    while (at < command.length && /^(?:-|\d|[A-Za-z_]\w*=)/.test(command[at]!)) {
      // `-u root` and its like take a word of their own.
      at += /^-[ugnCptiIdks]$/.test(command[at]!) ? 2 : 1
    }
  }
  return { program: baseName(command[at] ?? ""), args: command.slice(at + 1) }
}

const baseName = (word: string): string => word.slice(word.lastIndexOf("/") + 1)

function innerLine(program: string, args: readonly string[]): string | undefined {
  if (program === "eval") return args.join(" ")
  if (!SHELLS.test(program)) return undefined
  const at = args.findIndex((arg) => /^-[a-z]*c$/.test(arg))
  return at < 0 ? undefined : args[at + 1]
}
