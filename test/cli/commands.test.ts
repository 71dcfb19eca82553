/** Help, completions and the manual page all come from the table; real shells and man read what comes out. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { argumentsOf, readCommandLine } from "../../src/cli/command-line.ts"
import {
  COMMAND_NAMES,
  COMMANDS,
  type CommandSpec,
  optionsOf,
  SHELLS,
} from "../../src/cli/commands.ts"
import { completions } from "../../src/cli/completions.ts"
import { commandHelp, overview } from "../../src/cli/help.ts"
import { manPage } from "../../src/cli/man-page.ts"

const SPECS: readonly CommandSpec[] = COMMANDS
const has = (program: string): boolean => {
  if (Bun.which(program)) return true
  process.stderr.write(`skipped: ${program} is not installed\n`)
  return false
}

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "eva-shell-"))
  writeFileSync(join(folder, "settings.yaml"), "")
  mkdirSync(join(folder, "fish"))
  for (const shell of SHELLS)
    writeFileSync(join(folder, `completions.${shell}`), completions(shell))
})
afterAll(() => rmSync(folder, { recursive: true }))

function shell(program: string, ...args: string[]): string[] {
  const { stdout, stderr } = Bun.spawnSync([program, ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? "", HOME: folder, XDG_CONFIG_HOME: folder, LC_ALL: "C" },
  })
  expect(stderr.toString()).toBe("")
  return stdout.toString().split("\n").filter(Boolean)
}

/** Words to complete, the last one being typed, and what must be offered. */
const OFFERS: [words: string[], offered: string[]][] = [
  [["co"], ["completions", "config"]],
  [["--c"], ["--config"]],
  [
    ["config", ""],
    ["check", "example", "reference"],
  ],
  [["config", "--con"], ["--config"]],
  [["config", "--config", "set"], ["settings.yaml"]],
  [["-c", "set"], ["settings.yaml"]],
  [["completions", "f"], ["fish"]],
  [["help", "in"], ["init"]],
  [["init", "--y"], ["--yes"]],
]

describe("completions", () => {
  test.skipIf(!has("bash")).each(OFFERS)("bash completes %j", (words, offered) => {
    const script = `source completions.bash
COMP_WORDS=(eva-kernel "$@"); COMP_CWORD=$#; _eva_kernel; printf '%s\\n' "\${COMPREPLY[@]}"`
    const got = shell("bash", "--norc", "-c", script, "bash", ...words)
    expect(got).toEqual(expect.arrayContaining(offered))
    // One who began a word is offered nothing else.
    if (words.at(-1) !== "") expect(got).toHaveLength(offered.length)
  })

  test.skipIf(!has("fish")).each(OFFERS)("fish completes %j", (words, offered) => {
    const line = ["eva-kernel", ...words].join(" ")
    const got = shell("fish", "--no-config", "-c", `source completions.fish; complete -C '${line}'`)
    expect(got.map((entry) => entry.split("\t")[0])).toEqual(expect.arrayContaining(offered))
  })

  test.skipIf(!has("zsh"))("zsh loads the script and describes every command and option", () => {
    // What zsh's completion functions are called with, seen by functions in their place.
    const script = `
autoload() { : }; compdef() { print -r -- "compdef $*" }
_arguments() { print -rl -- "$@"; state=command }
_describe() { local -a all=("\${(@P)2}"); print -rl -- $all }
source completions.zsh
_eva_kernel
for command in ${COMMAND_NAMES.join(" ")}; do
  _arguments() { if [[ $1 = -C ]] { state=rest; line=($command) } else { print -r -- "$command: $*" } }
  _eva_kernel
done`
    const got = shell("zsh", "-f", "-c", script).join("\n")
    expect(got).toContain("compdef _eva_kernel eva-kernel")
    for (const command of SPECS) {
      expect(got).toContain(`\n${command.name}:${command.summary}`)
      const line = got.split("\n").find((text) => text.startsWith(`${command.name}: `))!
      for (const { name } of optionsOf(command)) expect(line).toContain(`--${name}[`)
      for (const word of command.argument?.choices ?? []) expect(line).toContain(word)
    }
  })
})

describe("help", () => {
  test("names every command, and each command every option of its own", () => {
    for (const command of SPECS) {
      expect(overview()).toContain(`\n  ${command.name} `)
      const text = commandHelp(command.name as (typeof COMMAND_NAMES)[number])
      expect(text).toStartWith(`Usage: eva-kernel ${command.name}`)
      for (const { name } of optionsOf(command)) expect(text).toContain(`--${name}`)
      for (const line of text.split("\n")) expect(line.length).toBeLessThan(100)
    }
  })

  test.each(COMMAND_NAMES)("%s --help and help %s ask for the same", (name) => {
    if (name === "help") return
    const asked = { command: name, args: ["--help"] }
    expect(readCommandLine([name, "--help"])).toEqual(asked)
    expect(readCommandLine([name, "-h", "whatever"])).toEqual(asked)
    expect(readCommandLine(["help", name])).toEqual(asked)
  })
})

describe("the manual page", () => {
  test.skipIf(!has("man"))("is read by man without a warning and holds everything", () => {
    const page = join(folder, "eva-kernel.1")
    writeFileSync(page, manPage())
    const { stdout, stderr, exitCode } = Bun.spawnSync(["man", "-l", "--warnings", page], {
      env: { PATH: process.env.PATH ?? "", MANWIDTH: "400", LC_ALL: "C" },
    })
    expect({ exitCode, complaints: stderr.toString() }).toEqual({ exitCode: 0, complaints: "" })
    const text = stdout.toString()
    for (const command of SPECS) {
      expect(text).toContain(`   ${command.name} `)
      for (const { name } of optionsOf(command)) expect(text).toContain(`--${name}`)
      for (const { line } of command.examples ?? []) expect(text).toContain(line)
    }
  })
})

describe("arguments", () => {
  test.each<[string[], string]>([
    [["completions"], "completions needs a shell: bash, zsh, fish"],
    [["completions", "bsh"], "unknown shell bsh: did you mean bash?"],
    [["completions", "bash", "zsh"], "completions takes no second argument zsh"],
    [["init", "--yes=no"], "--yes takes no value; it was given no"],
    [["init", "--config="], "--config needs a file: --config FILE"],
    [["config", "exmaple"], "unknown action exmaple: did you mean example?"],
    [["version", "1"], "version takes no argument 1"],
  ])("%j is refused", (argv, problem) => {
    expect(readCommandLine(argv)).toEqual({ problem })
  })

  test("options come with their values, repeated ones as a list", () => {
    expect(argumentsOf("init", ["-y", "--config", "a.yaml", "--config=b.yaml"])).toEqual({
      options: { config: "b.yaml", yes: true, service: false, "no-call": false },
      words: [],
    })
    expect(argumentsOf("config", ["check", "-c", "a", "-cb"])).toEqual({
      options: { config: ["a", "b"] },
      words: ["check"],
    })
  })
})
