/** The files of a project, read on every kind of machine, and what a prompt shows of them. */
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from "bun:test"
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { executeOp } from "../../src/cli/chat/hands/execute-op.ts"
import { projectText } from "../../src/context/fragments/project.ts"
import { machineProject } from "../../src/files/machine-project.ts"
import {
  type ProjectReader,
  type ProjectSettings,
  readProjectDocs,
} from "../../src/files/project-docs.ts"
import { clientProject, localProject } from "../../src/files/project-readers.ts"
import { uuidV4 } from "../../src/lib/id.ts"
import { createSshMachine } from "../../src/shell/ssh-machine.ts"
import type { Machine } from "../../src/tools/machine.ts"
import { canSsh, type SshHost, startSshHost } from "../shell/ssh-host.ts"

setDefaultTimeout(240_000)

let root: string
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "eva-project-")))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

function write(files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
}

const SETTINGS: ProjectSettings = {
  ...{ rootMarkers: [".git", ".jj", "flake.nix"], maxBytes: 16_384, memoryMaxBytes: 8192 },
}

async function told(
  reader: ProjectReader,
  workdir: string,
  changes: Partial<ProjectSettings> = {},
): Promise<string> {
  const settings = { ...SETTINGS, ...changes }
  const docs = await readProjectDocs(reader, join(root, workdir), settings)
  return projectText(docs, settings).replaceAll(root, "/ROOT")
}

const HERE = (op: Parameters<typeof executeOp>[0]): Promise<string> =>
  executeOp(op, {
    ...{ cwd: root, environment: {}, signal: new AbortController().signal, newId: uuidV4 },
    onProgress: () => {},
  })

const TREE = {
  "AGENTS.md": "above the project",
  "app/flake.nix": "{}",
  "app/AGENTS.md": "﻿rules of the root: слово 字",
  "app/.eva/MEMORY.md": "the build is slow",
  "app/web/AGENTS.md": "not read",
  "app/web/AGENTS.override.md": "rules of the web",
  "app/web/src/AGENTS.md": "  \n",
  "app/web/src/deep/main.ts": "x",
}
const SHOWN = [
  "[project]\nWhat the project in the working directory says to agents. Nearer files come later and win over those before.",
  "--- /ROOT/app/AGENTS.md\nrules of the root: слово 字",
  "--- /ROOT/app/web/AGENTS.override.md\nrules of the web",
  "--- /ROOT/app/.eva/MEMORY.md\nthe build is slow",
].join("\n\n")

describe("on this machine", () => {
  test("TFILE-41 TFILE-45 PRM-012 PRM-013 CTX-69 CTX-70 CTX-68: every AGENTS.md from the root down, the nearest last, an override in place of its neighbour, and the memory, each with its path", async () => {
    write(TREE)
    expect(await told(localProject, "app/web/src/deep")).toBe(SHOWN)
  })

  test("TFILE-42 CFG-059: the markers are settings; without any, or where none is found, only the folder itself counts", async () => {
    write({
      "AGENTS.md": "top",
      "app/AGENTS.md": "app",
      "app/go.mod": "",
      "app/in/AGENTS.md": "in",
    })
    const paths = async (rootMarkers: string[]): Promise<string[]> =>
      [
        ...(await told(localProject, "app/in", { rootMarkers })).matchAll(/^--- \/ROOT\/(.*)$/gm),
      ].map(([, path]) => path!)
    expect(await paths(["go.mod"])).toEqual(["app/AGENTS.md", "app/in/AGENTS.md"])
    expect(await paths([])).toEqual(["app/in/AGENTS.md"])
    expect(await paths(["nowhere"])).toEqual(["app/in/AGENTS.md"])
  })

  test("TFILE-43 TFILE-44 PRM-014 CTX-67 CTX-68 CFG-060 CFG-061: one budget for all; what is cut says which file and how much, what is not shown is named, what is empty costs nothing", async () => {
    write({
      "flake.nix": "",
      "AGENTS.md": `root ${"слово ".repeat(100)}`,
      "a/AGENTS.md": "",
      "a/b/AGENTS.md": `near ${"слово ".repeat(100)}`,
      "a/b/c/AGENTS.md": "nearest",
      ".eva/MEMORY.md": "m".repeat(100),
    })
    const text = await told(localProject, "a/b/c", { maxBytes: 1500, memoryMaxBytes: 40 })
    expect(text).toContain(`--- /ROOT/AGENTS.md\nroot ${"слово ".repeat(100).trim()}\n`)
    expect(text).toMatch(/--- \/ROOT\/a\/b\/AGENTS\.md\nnear слово/)
    expect(text).toMatch(
      /\(cut: the last \d+ of 1105 bytes of \/ROOT\/a\/b\/AGENTS\.md are not shown\)/,
    )
    expect(text).toContain("(not shown for want of room: /ROOT/a/b/c/AGENTS.md)")
    expect(text).toContain("(cut: the last 60 of 100 bytes of /ROOT/.eva/MEMORY.md are not shown)")
    expect(text).not.toContain("�")
    expect(await told(localProject, "a/b/c", { maxBytes: 0, memoryMaxBytes: 0 })).toBe("")
    expect(await told(localProject, "a/b/c", { maxBytes: 0 })).toContain("MEMORY.md")
  })

  test("a folder that is not there says nothing, and files that cannot be read cost themselves", async () => {
    expect(await told(localProject, "nowhere")).toBe("")
    write({ "flake.nix": "", "AGENTS.md/x": "a folder of that name" })
    expect(await told(localProject, ".")).toBe("")
  })
})

test("TFILE-46 TFILE-47 PRM-016: on the client's machine the same is found by list_up and read_bytes", async () => {
  write(TREE)
  const asked: string[] = []
  const reader = clientProject((op) => {
    asked.push(op.action)
    return HERE(op)
  })
  expect(await told(reader, "app/web/src/deep")).toBe(SHOWN)
  expect(asked[0]).toBe("list_up")
  expect(new Set(asked.slice(1))).toEqual(new Set(["read_bytes"]))
  const refusing = clientProject(() => Promise.reject(new Error("no")))
  expect(readProjectDocs(refusing, root, SETTINGS)).rejects.toThrow("no")
})

describe.skipIf(!canSsh)("on an ssh host", () => {
  let host: SshHost
  let machine: Machine
  beforeAll(async () => {
    host = await startSshHost()
    machine = createSshMachine({
      ...{ host: host.host, sshArguments: host.sshArguments, remoteEnvironment: {} },
      environment: { PATH: process.env.PATH ?? "", HOME: host.folder },
    })
  })
  afterAll(async () => {
    await machine.close()
    await host.stop()
  })

  test("TFILE-46 TFILE-55 PRM-015: the same is found in one trip", async () => {
    write({ ...TREE, "app/it's/AGENTS.md": "odd names" })
    let trips = 0
    const counted: Machine = {
      ...machine,
      run: (script) => {
        trips++
        return machine.run(script)
      },
    }
    const signal = new AbortController().signal
    const reader = () => machineProject({ machine: counted, signal })
    expect(await told(reader(), "app/web/src/deep")).toBe(SHOWN)
    expect(trips).toBe(1)
    expect(await told(reader(), "app/it's")).toContain("--- /ROOT/app/it's/AGENTS.md\nodd names")
    expect(readProjectDocs(reader(), "/nowhere/at/all", SETTINGS)).rejects.toThrow()
  })
})
