/** A patch on a real ssh host, kept for an undo and undone there. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { restoreFiles } from "../../src/files/checkpoint-restore.ts"
import { createCheckpoints } from "../../src/files/checkpoints.ts"
import { machineFiles } from "../../src/files/machine-files.ts"
import { patchTool } from "../../src/files/patch/tool.ts"
import { patchMachines } from "../../src/files/patch-machines.ts"
import { createSeenFiles } from "../../src/files/seen-files.ts"
import { uuidV4 } from "../../src/lib/id.ts"
import { createSshMachine } from "../../src/shell/ssh-machine.ts"
import type { Machine } from "../../src/tools/machine.ts"
import { canSsh, type SshHost, startSshHost } from "../shell/ssh-host.ts"
import { openTempStore } from "../support/temp-store.ts"
import { runTool } from "../support/tools.ts"
import { handsOn } from "./hands-rig.ts"

// Each command waits for a login shell, and some take seconds to start.
setDefaultTimeout(240_000)

const MIB = 1024 * 1024

describe.skipIf(!canSsh)("on an ssh host", () => {
  let host: SshHost
  let machine: Machine
  let folder: string
  beforeAll(async () => {
    host = await startSshHost()
    folder = mkdtempSync(join(tmpdir(), "eva-far-"))
    machine = createSshMachine({
      ...{ host: host.host, sshArguments: host.sshArguments, remoteEnvironment: {} },
      environment: { PATH: process.env.PATH ?? "", HOME: host.folder },
    })
  })
  afterAll(async () => {
    await machine.close()
    await host.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  test("a patch edits and adds; the undo takes it back", async () => {
    const at = (name: string) => join(folder, name)
    writeFileSync(at("a"), "one\r\nдва\r\n")
    const before = () => [readFileSync(at("a"), "utf8"), readdirSync(folder).sort()]
    const former = before()
    const temp = openTempStore()
    const { store, clock } = temp
    store.db.run("INSERT INTO chats (id, created_at, updated_at) VALUES ('chat-1', 0, 0)")
    const limits = { keepMs: 1000, fileMax: MIB, chatMax: MIB, totalMax: MIB }
    const checkpoints = createCheckpoints({ store, clock, limits })
    const { beforeWrite } = checkpoints

    const patch = [
      ...["*** Begin Patch", "*** Update File: a", "@@", "-два", "+три"],
      ...["*** Add File: new file", "+it's new", "*** End Patch"],
    ].join("\n")
    const { output } = await runTool(
      patchTool(patchMachines({ handsOf: handsOn(machine), beforeWrite, seen: createSeenFiles() })),
      { patch },
      { workdir: { path: folder, on: "server" } },
    )
    expect(output).toBe("Done on workbench:\nM a\nA new file")
    expect(readFileSync(at("a"), "utf8")).toBe("one\r\nтри\r\n")
    expect(readdirSync(folder).sort()).toEqual(["a", "new file"])

    const files = machineFiles({ machine, newId: uuidV4, signal: new AbortController().signal })
    const undone = await restoreFiles(
      {
        ...{ checkpoints, newId: uuidV4, isRunning: () => false },
        filesOf: (name) => (name === machine.name ? files : undefined),
      },
      "chat-1",
      {},
    )
    expect([undone.restored.length, undone.removed.length, undone.conflicts]).toEqual([1, 1, []])
    expect(before()).toEqual(former)
    temp.close()
  })

  test("a hunk that does not fit changes nothing there", async () => {
    writeFileSync(join(folder, "a"), "one\n")
    const patch =
      "*** Begin Patch\n*** Add File: x\n+x\n*** Update File: a\n@@\n-nowhere\n+y\n*** End Patch"
    const { isError, output } = await runTool(
      patchTool(
        patchMachines({
          handsOf: handsOn(machine),
          beforeWrite: async () => {},
          seen: createSeenFiles(),
        }),
      ),
      { patch },
      { workdir: { path: folder, on: "server" } },
    )
    expect(isError).toBe(true)
    expect(output).toContain(`Failed to find expected lines in ${folder}/a:\nnowhere`)
    expect(readdirSync(folder)).not.toContain("x")
  })
})
