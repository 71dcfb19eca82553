/**
 * One program run to its end as a child process: the common ground of all tools that start programs
 * (external tools now, the shell later), which is why it lives below their rooms.
 *
 * The child leads a process group of its own and the whole group is gone when the run is over, whether
 * it ended, timed out or was cancelled. The end is the exit of the program plus a short drain, never the
 * end of a pipe: a grandchild may hold that open for hours.
 */
import { closeSync } from "node:fs"
import { stat } from "node:fs/promises"
import { settledWithin, sleep } from "../lib/async.ts"
import { type KeptOutput, keepOutput } from "./kept-output.ts"
import { endGroup } from "./process-group.ts"
import { ToolFailure } from "./tool.ts"

export const PROCESS_LIMITS = {
  /** Bytes kept of each stream, head and tail. */
  keptBytes: 1_000_000,
  /** For output that is still in the pipe when the program has exited. */
  drainMs: 200,
} as const

export interface ProcessRequest {
  /** Program and arguments; a bare program name is looked up in the PATH of `environment`. */
  command: readonly string[]
  cwd: string
  /** The whole environment of the child. */
  environment: Record<string, string>
  /** Written to its standard input, which is then closed. */
  input?: string | Uint8Array
  /** Its standard input stays open and empty as long as the run lasts, in place of `input`. */
  holdsInput?: boolean
  timeoutMs: number
  signal: AbortSignal
  /** Bytes kept of each stream; `PROCESS_LIMITS.keptBytes` when absent. */
  keptBytes?: number
  /**
   * The child gets the reading end of a pipe as descriptor 3, which closes when the run is over or when this
   * process is no more, however it ended.
   */
  lifeline?: boolean
  /** Each piece of output as it comes, of both streams. */
  onOutput?(chunk: Uint8Array): void
}

export interface ProcessResult {
  ended: "exit" | "timeout" | "cancelled"
  /** Null when a signal ended it. */
  exitCode: number | null
  /** Such as `SIGKILL`. */
  signalCode: string | null
  stdout: KeptOutput
  stderr: KeptOutput
}

/** @throws ToolFailure when the program cannot be started */
export async function runProcess(request: ProcessRequest): Promise<ProcessResult> {
  const stdout = keepOutput(request.keptBytes ?? PROCESS_LIMITS.keptBytes)
  const stderr = keepOutput(request.keptBytes ?? PROCESS_LIMITS.keptBytes)
  if (request.signal.aborted) {
    return { ended: "cancelled", exitCode: null, signalCode: null, stdout, stderr }
  }
  const { child, cut } = await start(request)
  const readers = [
    readInto(stdout, child.stdout, request.onOutput),
    readInto(stderr, child.stderr, request.onOutput),
  ]
  const drained = Promise.all(readers.map((reader) => reader.done))

  const ended = await firstEnd(child.exited, request)
  if (ended === "exit") await settledWithin(drained, PROCESS_LIMITS.drainMs)
  // After a good end too: what the program left behind in its group would outlive its owner.
  await endGroup(child.pid)
  cut()
  await settledWithin(Promise.all([child.exited, drained]), PROCESS_LIMITS.drainMs)
  await Promise.all(readers.map((reader) => reader.stop()))

  const signalCode = child.signalCode === null ? null : String(child.signalCode)
  return { ended, exitCode: child.exitCode, signalCode, stdout, stderr }
}

async function start(request: ProcessRequest) {
  const { command, cwd, environment, lifeline } = request
  const [program = "", ...args] = command
  if (!(await isDirectory(cwd))) throw new ToolFailure(`cannot start ${program}: no folder ${cwd}`)
  const file = program.includes("/")
    ? program
    : Bun.which(program, { PATH: environment.PATH ?? "", cwd })
  if (!file) throw new ToolFailure(`cannot start ${program}: no such program in PATH`)
  try {
    const child = Bun.spawn([file, ...args], {
      cwd,
      env: environment,
      argv0: program,
      stdio: [inputOf(request), "pipe", "pipe", ...(lifeline ? (["pipe"] as const) : [])],
      detached: true,
    })
    return { child, cut: () => closeEnd(child.stdio[LIFELINE]) }
  } catch (error) {
    throw new ToolFailure(`cannot start ${program}: ${startProblem(error)}`, { cause: error })
  }
}

/** The descriptor that a child finds its lifeline at. */
const LIFELINE = 3

function inputOf({ input, holdsInput }: ProcessRequest): "ignore" | "pipe" | Uint8Array {
  if (holdsInput) return "pipe"
  return input === undefined ? "ignore" : Buffer.from(input)
}

function closeEnd(end: unknown): void {
  if (typeof end === "number") closeSync(end)
}

function startProblem(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined
  if (code === "ENOENT") return "no such program"
  if (code === "EACCES") return "it is not executable"
  if (code === "ENOEXEC") return "it is neither a program nor a script with a #! line"
  if (code === "E2BIG") return "its arguments are too long"
  return "the system refused"
}

async function isDirectory(path: string): Promise<boolean> {
  return stat(path).then(
    (entry) => entry.isDirectory(),
    () => false,
  )
}

async function firstEnd(
  exited: Promise<unknown>,
  { timeoutMs, signal }: ProcessRequest,
): Promise<ProcessResult["ended"]> {
  const over = new AbortController()
  const until = AbortSignal.any([signal, over.signal])
  const limit = sleep(timeoutMs, until).then((): ProcessResult["ended"] =>
    signal.aborted ? "cancelled" : "timeout",
  )
  const exit = exited.then((): ProcessResult["ended"] => "exit")
  const ended = await Promise.race([exit, limit])
  over.abort()
  return ended
}

/** Reads at once and to the end: a pipe that nobody reads grows in memory. */
function readInto(
  output: KeptOutput,
  stream: ReadableStream<Uint8Array>,
  onOutput?: (chunk: Uint8Array) => void,
) {
  const reader = stream.getReader()
  const pump = async (): Promise<void> => {
    for (let step = await reader.read(); !step.done; step = await reader.read()) {
      output.push(step.value)
      onOutput?.(step.value)
    }
  }
  return {
    done: pump().catch(() => undefined),
    stop: () => reader.cancel().catch(() => undefined),
  }
}
