/**
 * One ssh host, over the system's ssh and one connection that all commands share (ssh_config(5),
 * ControlMaster). The connection is a child of the kernel and does not outlive it.
 */
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { sleep } from "../lib/async.ts"
import { isAlive } from "../lib/is-alive.ts"
import { shellWord } from "../lib/shell-word.ts"
import type { Machine } from "../tools/machine.ts"
import { type ProcessResult, runProcess } from "../tools/process.ts"
import { ToolFailure } from "../tools/tool.ts"
import { LOCAL_LIFELINE, remoteLifeline } from "./lifeline.ts"

export interface SshOptions {
  /** As ssh(1) knows it. */
  host: string
  environment: Record<string, string>
  /** Variables that commands there are given. */
  remoteEnvironment: Record<string, string>
  /** Further arguments of ssh, such as `-F FILE`. */
  sshArguments?: readonly string[]
}

export const SSH_LIMITS = {
  /** To connect and to be let in. */
  connectMs: 20_000,
  pollMs: 50,
} as const

/** ssh(1): "or with 255 if an error occurred". */
const SSH_FAILED = 255

const OPTIONS = [
  ...["-o", "BatchMode=yes", "-o", "ConnectTimeout=15", "-o", "ServerAliveInterval=15"],
  ...["-o", "ServerAliveCountMax=3"],
]

export function createSshMachine(options: SshOptions): Machine {
  const { host, environment, remoteEnvironment, sshArguments = [] } = options
  const folder = socketFolder(tmpdir())
  const socket = join(folder, "s")
  const ssh = (...args: string[]) => ["ssh", "-S", socket, ...sshArguments, ...OPTIONS, ...args]
  const connection = new Connection({ host, environment, ssh, cwd: folder })
  const script = (command: string, cwd: string | undefined): string => {
    const variables = Object.entries(remoteEnvironment).map(
      ([name, value]) => `export ${name}=${shellWord(value)}; `,
    )
    const move = cwd === undefined ? "" : `cd ${shellWord(cwd)} || exit 1; `
    return variables.join("") + move + command
  }
  return {
    name: host,
    remote: true,
    run: async ({ command, cwd, input, ...rest }) => {
      await connection.open(rest.signal)
      const inner = script(command, cwd)
      const result = await runProcess({
        ...rest,
        ...{ environment, cwd: folder },
        ...(input === undefined ? { holdsInput: true } : { input }),
        command: ssh(
          ...["-o", "ControlMaster=no", "-T", host],
          `exec /bin/sh -c ${shellWord(input === undefined ? remoteLifeline(inner) : inner)}`,
        ),
      })
      if (result.exitCode === SSH_FAILED) await connection.checkAlive(result)
      return result
    },
    onTerminal: async ({ command, cwd }) => {
      await connection.open(new AbortController().signal)
      return {
        command: ssh(
          "-o",
          "ControlMaster=no",
          "-tt",
          host,
          `exec /bin/sh -c ${shellWord(script(command, cwd))}`,
        ),
        ...{ cwd: folder, environment },
      }
    },
    close: async () => {
      await connection.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const FOLDER = /^eva-ssh-(\d+)-/

/** A folder of this process for the socket of the connection. Those that killed kernels left are removed. */
export function socketFolder(parent: string): string {
  for (const name of readdirSync(parent)) {
    const [, pid] = FOLDER.exec(name) ?? []
    if (pid === undefined || isAlive(Number(pid))) continue
    try {
      rmSync(join(parent, name), { recursive: true, force: true })
    } catch {
      // It is another user's, whose own kernel will remove it.
    }
  }
  return mkdtempSync(join(parent, `eva-ssh-${process.pid}-`))
}

interface ConnectionOptions {
  host: string
  environment: Record<string, string>
  cwd: string
  ssh(...args: string[]): string[]
}

/** The connection that all commands share: made when the first needs it, and again when it was lost. */
class Connection {
  readonly #options: ConnectionOptions
  readonly #closed = new AbortController()
  #opening: Promise<void> | undefined
  #running: Promise<ProcessResult> | undefined

  constructor(options: ConnectionOptions) {
    this.#options = options
  }

  open(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve()
    this.#opening ??= this.#connect().catch((error: unknown) => {
      this.#opening = undefined
      throw error
    })
    return this.#opening
  }

  /** Tells a lost connection from a command that ended with ssh's own exit code. */
  async checkAlive({ stderr }: ProcessResult): Promise<void> {
    if (await this.#answers()) return
    this.#opening = undefined
    const said = stderr.text().trim()
    throw new ToolFailure(`the connection to ${this.#options.host} was lost. ${said}`.trim())
  }

  async close(): Promise<void> {
    this.#closed.abort()
    await this.#running?.catch(() => undefined)
  }

  async #connect(): Promise<void> {
    const { ssh, host, cwd, environment } = this.#options
    const line = ssh("-M", "-N", "-T", host).map(shellWord).join(" ")
    const running = runProcess({
      command: ["/bin/sh", "-c", LOCAL_LIFELINE, "sh", `exec ${line}`],
      ...{ cwd, environment, lifeline: true },
      timeoutMs: FOREVER_MS,
      signal: this.#closed.signal,
    })
    this.#running = running
    let ended: ProcessResult | undefined
    void running.then(
      (result) => {
        ended = result
        this.#opening = undefined
      },
      () => undefined,
    )
    for (let waited = 0; waited < SSH_LIMITS.connectMs; waited += SSH_LIMITS.pollMs) {
      if (await this.#answers()) return
      if (ended) throw new ToolFailure(`cannot reach ${host} by ssh: ${lastLine(ended)}`)
      await sleep(SSH_LIMITS.pollMs)
    }
    throw new ToolFailure(
      `cannot reach ${host} by ssh: no answer within ${SSH_LIMITS.connectMs / 1000} s`,
    )
  }

  async #answers(): Promise<boolean> {
    const { ssh, host, cwd, environment } = this.#options
    const { exitCode } = await runProcess({
      command: ssh("-O", "check", host),
      ...{ cwd, environment, timeoutMs: SSH_LIMITS.connectMs, signal: this.#closed.signal },
    })
    return exitCode === 0
  }
}

/** Timers hold three weeks at most. */
const FOREVER_MS = 2 ** 31 - 1

const lastLine = ({ stderr }: ProcessResult): string =>
  stderr.text().trim().split("\n").at(-1) || "it said nothing"
