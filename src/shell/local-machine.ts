/** This machine: commands as children of the kernel, which do not outlive it. */
import { homedir } from "node:os"
import type { Machine } from "../tools/machine.ts"
import { runProcess } from "../tools/process.ts"
import { LOCAL_LIFELINE } from "./lifeline.ts"
import type { Sandbox } from "./sandbox.ts"

export interface LocalOptions {
  /** The whole environment of commands. */
  environment: Record<string, string>
  sandbox?: Sandbox | undefined
}

const SH = "/bin/sh"

export function createLocalMachine({ environment, sandbox }: LocalOptions): Machine {
  const within = (command: readonly string[], cwd: string): readonly string[] =>
    sandbox?.(command, cwd) ?? command
  return {
    name: "server",
    remote: false,
    run: ({ command, cwd = homedir(), ...script }) =>
      runProcess({
        ...script,
        ...{ cwd, environment, lifeline: true },
        command: within([SH, "-c", LOCAL_LIFELINE, "sh", command], cwd),
      }),
    onTerminal: async ({ command, cwd = homedir() }) => ({
      command: within([SH, "-c", command], cwd),
      ...{ cwd, environment },
    }),
    close: async () => {},
  }
}
