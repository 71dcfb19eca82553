/** The shell room: the working machine, its sessions and their tools. */
import type { Config } from "../config/schema.ts"
import type { Clock } from "../lib/clock.ts"
import { childEnvironment, type Environment } from "../lib/environment.ts"
import { KernelError } from "../lib/error.ts"
import { createLocalMachine } from "../shell/local-machine.ts"
import { createSandbox } from "../shell/sandbox.ts"
import { Sessions } from "../shell/sessions.ts"
import { createSshMachine } from "../shell/ssh-machine.ts"
import { shellTools } from "../shell/tools.ts"
import { UNATTENDED } from "../shell/unattended.ts"
import type { Machine } from "../tools/machine.ts"
import type { Tool } from "../tools/tool.ts"

export interface Shell {
  machine: Machine
  tools: Tool[]
  /** Ends what runs and closes the connection. */
  close(): Promise<void>
}

export interface ShellOptions {
  config: Config
  environment: Environment
  clock: Clock
}

/** Throws KernelError("config") for a sandbox that cannot be. */
export function createShell(parts: ShellOptions): Shell {
  const { config, environment, clock } = parts
  const { remote, output_cap } = config.shell
  const machine = remote === undefined ? localMachine(parts) : sshMachine(remote, environment)
  if (remote !== undefined && config.shell.sandbox !== "none") {
    const message =
      "the sandbox is for the machine of the kernel, and shell.remote is set: drop one"
    throw new KernelError("config", message, { path: "shell.sandbox" })
  }
  const sessions = new Sessions({ machine, clock })
  return {
    machine,
    tools: shellTools({ machine, sessions, outputCap: output_cap }),
    close: async () => {
      await sessions.close()
      await machine.close()
    },
  }
}

function localMachine({
  config,
  environment,
}: {
  config: Config
  environment: Environment
}): Machine {
  const child = childEnvironment(environment, UNATTENDED)
  const { sandbox, writable, network } = config.shell
  return createLocalMachine({
    environment: child,
    sandbox:
      sandbox === "bwrap" ? createSandbox({ writable, network }, child.PATH ?? "") : undefined,
  })
}

const sshMachine = (host: string, environment: Environment): Machine =>
  createSshMachine({
    host,
    // ssh itself may need the agent's socket and the home.
    environment: childEnvironment(environment, {
      ...(environment.SSH_AUTH_SOCK !== undefined && { SSH_AUTH_SOCK: environment.SSH_AUTH_SOCK }),
    }),
    remoteEnvironment: UNATTENDED,
  })
