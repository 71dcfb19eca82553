/** Files by scripts for `sh`, as on an ssh host; here the shell of this machine runs them. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { FileWrite } from "../../src/files/checkpoints.ts"
import { machineFiles } from "../../src/files/machine-files.ts"
import { patchTool } from "../../src/files/patch/tool.ts"
import { patchMachines } from "../../src/files/patch-machines.ts"
import { createSeenFiles } from "../../src/files/seen-files.ts"
import type { WholeFiles } from "../../src/files/whole-files.ts"
import { uuidV4 } from "../../src/lib/id.ts"
import { createLocalMachine } from "../../src/shell/local-machine.ts"
import type { Machine } from "../../src/tools/machine.ts"
import { runTool } from "../support/tools.ts"
import { handsOn } from "./hands-rig.ts"

// Nothing here waits for time; a slow machine may.
setDefaultTimeout(60_000)

let folder: string
let files: WholeFiles
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "eva-machine-"))
  files = filesOf(machine())
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const machine = () =>
  createLocalMachine({ environment: { PATH: process.env.PATH ?? "", HOME: folder } })
const filesOf = (of: Machine) =>
  machineFiles({ machine: of, newId: uuidV4, signal: new AbortController().signal })
const at = (name: string) => join(folder, name)
const hash = (text: string) => Bun.SHA256.hash(text, "hex")

describe("files of a machine", () => {
  test("come back byte for byte, with their permissions, under any name", async () => {
    const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, index) => (index * 7) % 256))
    for (const name of ["plain", "with space", "it's", "-dash", "$(touch x)", "день", "a\nb"]) {
      await files.write(at(name), bytes, { mode: 0o640 })
      const file = await files.read(at(name))
      expect([name, Buffer.from(file!.bytes).equals(bytes), file!.mode]).toEqual([
        name,
        true,
        0o640,
      ])
      await files.remove(at(name))
      expect(existsSync(at(name))).toBe(false)
    }
    expect(readdirSync(folder)).toEqual([])
  })

  test("are told apart from what is none", async () => {
    mkdirSync(at("dir"))
    writeFileSync(at("file"), "x")
    Bun.spawnSync(["mkfifo", at("pipe")])
    const kinds = await Promise.all(
      ["dir", "file", "pipe", "none"].map((name) => files.kindOf(at(name))),
    )
    expect(kinds).toEqual(["directory", "file", "other", "absent"])
    expect(await files.read(at("none"))).toBeUndefined()
    await expect(files.read(at("dir"))).rejects.toThrow("it is a directory")
    await expect(files.read(at("pipe"))).rejects.toThrow("not a regular file")
  })

  test("keep permissions and links when they are replaced; folders on the way are made", async () => {
    writeFileSync(at("target"), "old")
    chmodSync(at("target"), 0o755)
    symlinkSync("target", at("link"))
    await files.write(at("link"), Buffer.from("new"), { mode: 0o600 })
    expect(lstatSync(at("link")).isSymbolicLink()).toBe(true)
    expect(readFileSync(at("target"), "utf8")).toBe("new")
    expect(statSync(at("target")).mode & 0o777).toBe(0o755)
    await files.write(at("a/b/c"), Buffer.from(""))
    expect(readFileSync(at("a/b/c"), "utf8")).toBe("")
  })

  test("that were changed meanwhile are left alone", async () => {
    writeFileSync(at("file"), "mine")
    const write = (expectSha256: string | null) =>
      files.write(at("file"), Buffer.from("new"), { expectSha256 })
    await expect(write(hash("old"))).rejects.toThrow("changed meanwhile")
    await expect(write(null)).rejects.toThrow("changed meanwhile")
    expect([readFileSync(at("file"), "utf8"), readdirSync(folder)]).toEqual(["mine", ["file"]])
    await write(hash("mine"))
    expect(readFileSync(at("file"), "utf8")).toBe("new")
  })

  test("are not replaced by a part of what was sent", async () => {
    writeFileSync(at("file"), "whole")
    const local = machine()
    const cutting: Machine = {
      ...local,
      run: (script) =>
        local.run({ ...script, ...(script.input && { input: script.input.slice(0, 3) }) }),
    }
    const sent = filesOf(cutting).write(at("file"), Buffer.from("longer than three"))
    await expect(sent).rejects.toThrow("the connection broke")
    expect([readFileSync(at("file"), "utf8"), readdirSync(folder)]).toEqual(["whole", ["file"]])
  })

  test("that cannot be written say why", async () => {
    writeFileSync(at("file"), "x")
    await expect(files.write(at("file/below"), Buffer.from("y"))).rejects.toThrow(/directory/i)
    await expect(files.remove(at("none"))).rejects.toThrow(/no such file/i)
  })
})

test("TFILE-21: a patch acts on the host, removes and moves there, and the answer names it", async () => {
  const local = machine()
  /** As an ssh host: what is not absolute counts from its home. */
  const host: Machine = {
    ...{ ...local, name: "box", remote: true },
    run: (script) => local.run({ cwd: folder, ...script }),
  }
  writeFileSync(at("a"), "one\n")
  writeFileSync(at("b"), "two\n")
  chmodSync(at("b"), 0o755)
  writeFileSync(at("c"), "three\n")
  const kept: FileWrite[] = []
  const tool = patchTool(
    patchMachines({
      handsOf: handsOn(host),
      beforeWrite: async (...writes) => void kept.push(...writes),
      seen: createSeenFiles(),
    }),
  )
  const patch = [
    ...["*** Begin Patch", "*** Update File: ~/a", "@@", "-one", "+ONE", "*** Update File: b"],
    ...["*** Move to: sub/b", "@@", "-two", "+TWO", "*** Delete File: c", "*** End Patch"],
  ].join("\n")
  const { output } = await runTool(tool, { patch, on: "server" })
  expect(output).toBe("Done on box:\nM ~/a\nR b → sub/b\nD c")
  const found = readdirSync(folder, { recursive: true }).map(String).sort()
  expect(found).toEqual(["a", "sub", "sub/b"])
  expect([readFileSync(at("a"), "utf8"), readFileSync(at("sub/b"), "utf8")]).toEqual([
    "ONE\n",
    "TWO\n",
  ])
  expect(statSync(at("sub/b")).mode & 0o777).toBe(0o755)
  expect(kept.map((write) => [write.machine, write.path, write.formerMode])).toEqual([
    ["box", "~/a", expect.any(Number)],
    ["box", "sub/b", undefined],
    ["box", "b", 0o755],
    ["box", "c", expect.any(Number)],
  ])
})
