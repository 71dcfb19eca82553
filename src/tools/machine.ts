/**
 * The working machine: where `shell` and the server's side of the file tools act. It is this machine or one
 * ssh host, and both rooms must mean the same one, so the contract stands below them.
 */
import type { ProcessResult } from "./process.ts"

export interface MachineScript {
  /** Run by `sh -c`. */
  command: string
  /** Absolute; the home directory when absent. */
  cwd?: string
  /** Bytes for its standard input, which is then closed. Without it the input is empty. */
  input?: Uint8Array
  timeoutMs: number
  signal: AbortSignal
  /** Bytes kept of each stream, head and tail. */
  keptBytes?: number
  /** Each piece of output as it comes, of both streams. */
  onOutput?(chunk: Uint8Array): void
}

/** A program on a pseudo-terminal, for sessions that live longer than one call. */
export interface TerminalProgram {
  command: readonly string[]
  cwd: string
  environment: Record<string, string>
}

export interface Machine {
  /** As answers name it: `server`, or the ssh host. */
  readonly name: string
  /** An ssh host. */
  readonly remote: boolean
  /**
   * Resolves when the command and all that it started are over.
   * @throws ToolFailure when it cannot be started or the host cannot be reached
   */
  run(script: MachineScript): Promise<ProcessResult>
  /** How to start this script on a pseudo-terminal. @throws ToolFailure as `run` does */
  onTerminal(script: { command: string; cwd?: string }): Promise<TerminalProgram>
  /** Ends what the machine itself keeps open, such as a connection. */
  close(): Promise<void>
}
