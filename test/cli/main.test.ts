/** The command line as a person meets it: the real program in a child process. */
import { describe, expect, test } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import packageJson from "../../package.json"
import { configFilesOf, readCommandLine } from "../../src/cli/command-line.ts"

const MAIN = join(import.meta.dir, "../../src/main.ts")

function run(...args: string[]): { code: number; out: string; err: string } {
  const cwd = mkdtempSync(join(tmpdir(), "eva-cli-"))
  try {
    const child = Bun.spawnSync([process.execPath, MAIN, ...args], { cwd })
    return { code: child.exitCode, out: child.stdout.toString(), err: child.stderr.toString() }
  } finally {
    rmSync(cwd, { recursive: true })
  }
}

describe("the program", () => {
  test.each<[string[]]>([
    [["--version"]],
    [["-V"]],
    [["version"]],
    [["--config", "absent.yaml", "--version"]],
  ])("%j says which build this is", (args) => {
    expect(run(...args)).toEqual({
      code: 0,
      out: `eva-kernel ${packageJson.version} (dev)\n`,
      err: "",
    })
  })

  test.each(["--help", "-h", "help"])("%s shows every command", (word) => {
    const { code, out, err } = run(word)
    expect({ code, err }).toEqual({ code: 0, err: "" })
    expect(out).toStartWith("eva-kernel: ")
    for (const command of ["serve", "config", "help", "version"])
      expect(out).toContain(`\n  ${command} `)
  })

  test("a word that is no command is answered with the nearest and code 2", () => {
    expect(run("sevre")).toEqual({
      code: 2,
      out: "",
      err: "eva-kernel: unknown command sevre: did you mean serve?\n",
    })
  })

  test("an option that does not exist is answered with the nearest and code 2", () => {
    expect(run("--confg", "a.yaml")).toEqual({
      code: 2,
      out: "",
      err: "eva-kernel: unknown option --confg: did you mean --config?\n",
    })
  })
})

describe("the command line", () => {
  test.each<[string[], string[]]>([
    [[], []],
    [["serve"], []],
    [
      ["--config", "a.yaml", "-c", "b.toml"],
      ["a.yaml", "b.toml"],
    ],
    [["serve", "--config=a.yaml"], ["a.yaml"]],
    [["-ca.yaml"], ["a.yaml"]],
  ])("BOOT-003: %j serves with the files %j", (argv, files) => {
    const line = readCommandLine(argv)
    expect(line).toMatchObject({ command: "serve" })
    expect("args" in line && configFilesOf(line.args)).toEqual(files)
  })

  test.each<[string[], string]>([
    [["--config"], "--config needs a file: --config FILE"],
    [["-c"], "-c needs a file: -c FILE"],
    [["serve", "a.yaml"], "serve takes no argument a.yaml; a file is named by --config FILE"],
    [["--quiet-please"], "unknown option --quiet-please: eva-kernel --help lists what there is"],
    [["help", "confg"], "unknown command confg: did you mean config?"],
  ])("%j is refused", (argv, problem) => {
    expect(readCommandLine(argv)).toEqual({ problem })
  })

  test("config keeps its own arguments", () => {
    expect(readCommandLine(["config", "check", "--config", "a.yaml"])).toEqual({
      command: "config",
      args: ["check", "--config", "a.yaml"],
    })
    expect(readCommandLine(["help", "config"])).toEqual({ command: "config", args: ["--help"] })
  })
})
