/** One command that lives longer than a call: on a pseudo-terminal, with what it printed since it was read. */
import { settledWithin } from "../lib/async.ts"
import { keepOutput } from "../tools/kept-output.ts"
import type { TerminalProgram } from "../tools/machine.ts"
import { PROCESS_LIMITS } from "../tools/process.ts"
import { endGroup } from "../tools/process-group.ts"
import { ToolFailure } from "../tools/tool.ts"
import { terminalLifeline } from "./lifeline.ts"
import { createNewest } from "./newest.ts"

export interface SessionOptions {
  id: string
  program: TerminalProgram
  /** Bytes kept between two readings, head and tail. */
  keptBytes: number
  /** Output came, or the command ended. */
  onChange?(): void
}

export interface ShellSession {
  readonly id: string
  readonly startedAt: number
  /** Undefined while it runs; null when a signal ended it. */
  exitCode(): number | null | undefined
  exited: Promise<void>
  /** What came since the last time. */
  take(): string
  /** The end of all output, for those who look on. */
  tail(): string
  write(input: string): void
  /** Ends it and all that it started. */
  end(): Promise<void>
}

/** Wide enough that programs do not wrap what they print. */
const SIZE = { cols: 200, rows: 50 }

/** The terminal neither repeats input nor turns line ends, so that output is what the program printed. */
const QUIET = "stty -echo -onlcr 2>/dev/null; "

/** The command as a session runs it: on a quiet terminal, and no longer than the terminal is there. */
export const asSession = (command: string): string => QUIET + terminalLifeline(command)

export function startSession(options: SessionOptions, startedAt: number): ShellSession {
  const { id, program, keptBytes, onChange = () => {} } = options
  let fresh = keepOutput(keptBytes)
  const newest = createNewest()
  let shown = ""
  const drained = Promise.withResolvers<void>()
  const onData = (bytes: Uint8Array): void => {
    fresh.push(bytes)
    shown = newest(bytes)
    onChange()
  }
  const child = spawn(program, { onData, onEnd: drained.resolve })
  let code: number | null | undefined
  const exited = child.exited.then(() => {
    code = child.exitCode
    onChange()
  })
  return {
    ...{ id, startedAt, exited },
    exitCode: () => code,
    take: () => {
      const kept = fresh
      fresh = keepOutput(keptBytes)
      if (kept.isBinary()) return `[binary output: ${kept.totalBytes} bytes, not shown]`
      return kept.text()
    },
    tail: () => shown,
    write: (input) => void child.terminal?.write(input),
    end: async () => {
      await endGroup(child.pid)
      await exited
      // What was printed last may still be in the terminal.
      await settledWithin(drained.promise, PROCESS_LIMITS.drainMs)
      child.terminal?.close()
    },
  }
}

function spawn(
  { command, cwd, environment }: TerminalProgram,
  { onData, onEnd }: { onData(bytes: Uint8Array): void; onEnd(): void },
) {
  const [name = "", ...args] = command
  const file = name.includes("/") ? name : Bun.which(name, { PATH: environment.PATH ?? "" })
  if (!file) throw new ToolFailure(`cannot start ${name}: no such program in PATH`)
  try {
    return Bun.spawn([file, ...args], {
      ...{ cwd, env: environment, detached: true },
      // The bytes are only valid during the call.
      terminal: { ...SIZE, data: (_terminal, bytes) => onData(bytes.slice()), exit: onEnd },
    })
  } catch (error) {
    throw new ToolFailure(`cannot start ${name}: is ${cwd} a folder?`, { cause: error })
  }
}
