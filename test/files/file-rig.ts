/** A folder with the file tools over it, on each of the three machines that hands can be. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { executeOp } from "../../src/cli/chat/hands/execute-op.ts"
import type { FileWrite } from "../../src/files/checkpoints.ts"
import { fileTools } from "../../src/files/file-tools.ts"
import { createLineIndex } from "../../src/files/line-index.ts"
import { localHands } from "../../src/files/local-hands.ts"
import { machineHands } from "../../src/files/machine-hands.ts"
import { createScanner } from "../../src/files/scanner.ts"
import { createSeenFiles } from "../../src/files/seen-files.ts"
import { handsOf, type ServerHands } from "../../src/files/which-hands.ts"
import { errorText } from "../../src/lib/error.ts"
import { uuidV4 } from "../../src/lib/id.ts"
import type { WorkdirOn } from "../../src/schema/chat.ts"
import type { ClientOp } from "../../src/schema/client-op.ts"
import { createLocalMachine } from "../../src/shell/local-machine.ts"
import type { Machine } from "../../src/tools/machine.ts"
import type { CallResult } from "../../src/tools/run.ts"
import { ToolFailure, type TurnIdentity } from "../../src/tools/tool.ts"
import { masterIdentity, reachTurn, runTool } from "../support/tools.ts"

/** `host`: scripts for a shell, as an ssh host runs them; here the shell of this machine. */
export type RigMachine = "server" | "host" | "client"
export const MACHINES: readonly RigMachine[] = ["server", "host", "client"]

export interface RigCall {
  machine?: RigMachine
  /** Passed as the parameter `on`; by default the machine is told by the working directory. */
  on?: WorkdirOn
  identity?: Partial<TurnIdentity>
  workdir?: string | undefined
  /** Actions that the client does not know. */
  unknown?: readonly ClientOp["action"][]
  signal?: AbortSignal
  /** Right before something is written. */
  onKept?: () => void
}

export interface FileRig {
  folder: string
  at(name: string): string
  put(name: string, content: string | Uint8Array): string
  text(name: string): string
  bytes(name: string): Buffer
  call(tool: string, input: Record<string, unknown>, options?: RigCall): Promise<CallResult>
  /** What clients were asked. */
  ops: ClientOp[]
  /** What was kept for an undo. */
  kept: FileWrite[]
  close(): void
}

export function fileRig({ readerChars = 16_000 }: { readerChars?: number } = {}): FileRig {
  const folder = mkdtempSync(join(tmpdir(), "eva-files-"))
  const at = (name: string) => join(folder, name)
  const scanner = createScanner()
  const lineIndex = createLineIndex(scanner)
  const shell = createLocalMachine({ environment: { PATH: process.env.PATH ?? "", HOME: folder } })
  const host: Machine = {
    ...shell,
    name: "host",
    // Its home is the folder.
    run: (script) => shell.run({ cwd: folder, ...script }),
  }
  const ops: ClientOp[] = []
  const kept: FileWrite[] = []
  const seen = createSeenFiles()

  const serverOf =
    (machine: RigMachine): ServerHands =>
    (call) =>
      machine === "host"
        ? machineHands({ machine: host, newId: uuidV4, ...call })
        : localHands({ name: "server", newId: uuidV4, lineIndex, ...call })

  const clientOp =
    ({ unknown = [] }: RigCall) =>
    async (op: ClientOp) => {
      ops.push(op)
      if (unknown.includes(op.action)) throw new ToolFailure("unknown op action")
      const place = { cwd: folder, environment: {}, signal: new AbortController().signal }
      try {
        return await executeOp(op, { ...place, newId: uuidV4, onProgress: () => {} })
      } catch (error) {
        throw new ToolFailure(errorText(error))
      }
    }

  const call = (name: string, input: Record<string, unknown>, options: RigCall = {}) => {
    const { machine = "server", on, identity, signal } = options
    const tools = fileTools({
      ...{ handsOf: handsOf(serverOf(machine)), scanner, readerChars, seen },
      beforeWrite: async (...writes) => {
        kept.push(...writes)
        options.onKept?.()
      },
    })
    const tool = tools.find((one) => one.name === name)
    if (!tool) throw new Error(`no tool ${name}`)
    const workdir = {
      path: "workdir" in options ? options.workdir : folder,
      on: machine === "client" ? ("client" as const) : ("server" as const),
    }
    return runTool(tool, on === undefined ? input : { ...input, on }, {
      ...{ workdir, clientOp: clientOp(options) },
      ...(signal && { signal }),
      turn: reachTurn({ identity: masterIdentity(identity) }),
    })
  }

  return {
    ...{ folder, at, call, ops, kept },
    put: (name, content) => {
      writeFileSync(at(name), content)
      return at(name)
    },
    text: (name) => readFileSync(at(name), "utf8"),
    bytes: (name) => readFileSync(at(name)),
    close: () => {
      scanner.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export const numbered = (count: number, from = 1): string =>
  Array.from({ length: count }, (_, at) => `line ${from + at}\n`).join("")
