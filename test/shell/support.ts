/** The shell's tools on a machine of their own, for tests. */
import { mkdtempSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Clock, systemClock } from "../../src/lib/clock.ts"
import { createLocalMachine } from "../../src/shell/local-machine.ts"
import type { Sandbox } from "../../src/shell/sandbox.ts"
import { type SessionLimits, Sessions } from "../../src/shell/sessions.ts"
import { shellTools } from "../../src/shell/tools.ts"
import type { Machine } from "../../src/tools/machine.ts"
import type { CallResult } from "../../src/tools/run.ts"
import { type RunOptions, runTool } from "../support/tools.ts"

export interface ShellBench {
  dir: string
  machine: Machine
  call(name: string, input: object, options?: RunOptions): Promise<CallResult>
  sessions: Sessions
  dispose(): Promise<void>
}

export interface BenchOptions {
  machine?: Machine
  sandbox?: Sandbox
  outputCap?: number
  limits?: Partial<SessionLimits>
  clock?: Clock
}

export function shellBench(options: BenchOptions = {}): ShellBench {
  const { sandbox, outputCap, limits, clock = systemClock } = options
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "eva-shell-")))
  const environment = { PATH: process.env.PATH ?? "", HOME: dir, TERM: "dumb" }
  const machine = options.machine ?? createLocalMachine({ environment, sandbox })
  const sessions = new Sessions({ machine, clock, ...(limits && { limits }) })
  const tools = shellTools({ machine, sessions, outputCap })
  return {
    ...{ dir, machine, sessions },
    call: (name, input, given = {}) => {
      const tool = tools.find((each) => each.name === name)!
      return runTool(tool, input, { workdir: { path: dir, on: "server" }, ...given })
    },
    dispose: async () => {
      await sessions.close()
      await machine.close()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

export const pidIn = (text: string): number => Number(/pid=(\d+)/.exec(text)?.[1])
