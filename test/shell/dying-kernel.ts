/** A process with commands and sessions of the shell that waits to be killed. Prints the ids of what it started. */
import { systemClock } from "../../src/lib/clock.ts"
import { createLocalMachine } from "../../src/shell/local-machine.ts"
import { createSandbox } from "../../src/shell/sandbox.ts"
import { Sessions } from "../../src/shell/sessions.ts"
import { createSshMachine } from "../../src/shell/ssh-machine.ts"

const [kind = "local", host = "", sshConfig = ""] = process.argv.slice(2)
const PATH = process.env.PATH ?? ""
const environment = { PATH, HOME: process.env.HOME ?? "/" }
const machine =
  kind === "ssh"
    ? createSshMachine({
        ...{ host, environment, remoteEnvironment: {} },
        sshArguments: ["-F", sshConfig],
      })
    : createLocalMachine({
        environment,
        sandbox:
          kind === "bwrap"
            ? createSandbox({ writable: ["/var/tmp"], network: true }, PATH)
            : undefined,
      })

/** Stubborn: no hang-up, no polite signal and no closed pipe ends them. */
const command = (name: string) =>
  `trap '' HUP TERM PIPE; sh -c 'echo ${name}=$PPID; exec sleep 3000' & wait`
const show = (text: string) => process.stdout.write(text)
const { signal } = new AbortController()

void machine.run({
  ...{ command: command("command"), timeoutMs: 3_000_000, signal },
  onOutput: (chunk) => show(Buffer.from(chunk).toString()),
})
const sessions = new Sessions({ machine, clock: systemClock })
void sessions.start({
  ...{ command: command("session"), cwd: undefined, signal, yieldMs: 30_000 },
  onTail: show,
})
