/** Which machine a call of `apply_patch` means, and its files. */
import { homedir } from "node:os"
import type { NewId } from "../lib/id.ts"
import type { WorkdirOn } from "../schema/chat.ts"
import type { Machine } from "../tools/machine.ts"
import { type ToolContext, ToolFailure } from "../tools/tool.ts"
import type { BeforeWrite } from "./checkpoints.ts"
import { CLIENT_CANNOT_REMOVE, clientFiles } from "./client-files.ts"
import { type MachineFilesOptions, machineFiles } from "./machine-files.ts"
import type { PatchMachine } from "./patch/tool.ts"
import { treeFiles } from "./tree-files.ts"
import { localFiles, type WholeFiles } from "./whole-files.ts"

export interface PatchMachinesOptions {
  /** The working machine: this one, or an ssh host. */
  machine: Machine
  newId: NewId
  beforeWrite: BeforeWrite
}

export const CLIENT = "client"

export const workingFiles = (options: MachineFilesOptions): WholeFiles =>
  options.machine.remote ? machineFiles(options) : localFiles(options.newId)

const NOT_TRUSTED =
  "only a trusted turn acts on the client's machine; the master can ask for it from his own client, or pass on: server"

/** The machine of the working directory unless one is named; the server's for a turn without a client. */
export const patchMachines =
  ({ machine, newId, beforeWrite }: PatchMachinesOptions) =>
  async (context: ToolContext, named: WorkdirOn | undefined): Promise<PatchMachine> => {
    const { chatId, turnId, workdir, identity } = context
    const fallback = identity.clientOps ? "client" : "server"
    const on = named ?? (workdir.path === undefined ? fallback : workdir.on)
    const cwd = workdir.on === on ? workdir.path : undefined
    const call = { chatId, turnId, beforeWrite }
    if (on === "server") {
      const files = workingFiles({ machine, newId, signal: context.signal })
      const home = homedir()
      // A host resolves what is not absolute itself, and one script after another.
      const place = machine.remote ? { cwd, parallel: 1 } : { cwd: cwd ?? home, home }
      const { name } = machine
      return { name, files: treeFiles({ ...call, ...place, machine: name, files }) }
    }
    if (!identity.trusted) throw new ToolFailure(NOT_TRUSTED)
    const files = clientFiles(context)
    // One question after another: each write may be one to the user.
    const limits = { parallel: 1, cannotRemove: CLIENT_CANNOT_REMOVE }
    return { name: CLIENT, files: treeFiles({ ...call, ...limits, machine: CLIENT, files, cwd }) }
  }
