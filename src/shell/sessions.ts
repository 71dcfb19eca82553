/** All sessions of the shell: how many there may be, how long they stay, and who ends them. */
import { settledWithin } from "../lib/async.ts"
import type { Clock } from "../lib/clock.ts"
import type { Machine } from "../tools/machine.ts"
import { ToolFailure } from "../tools/tool.ts"
import { asSession, type ShellSession, startSession } from "./session.ts"

export interface SessionLimits {
  count: number
  idleMs: number
  pollMinMs: number
  yieldMinMs: number
  yieldMaxMs: number
  keptBytes: number
}

export const SESSION_LIMITS: SessionLimits = {
  count: 16,
  /** Without a call and without output. */
  idleMs: 5 * 60_000,
  /** How long a poll without input waits at least. */
  pollMinMs: 5000,
  yieldMinMs: 250,
  yieldMaxMs: 30_000,
  keptBytes: 1024 * 1024,
}

/** What a call about a session answers; one that is over has an exit code and no id. */
export interface SessionAnswer {
  session_id?: string
  output: string
  /** Grows with each delivery, so that the same again is told from news. */
  chunk_id: number
  wall_time_seconds: number
  exit_code?: number | null
}

export interface SessionStart {
  command: string
  cwd: string | undefined
  /** Its turn: a cancel ends what the turn began. */
  signal: AbortSignal
  yieldMs: number
  onTail(output: string): void
}

interface Entry {
  session: ShellSession
  /** The newest call or output. */
  activeAt: number
  onTail: (output: string) => void
  command: string
}

export interface SessionsOptions {
  machine: Machine
  clock: Clock
  limits?: Partial<SessionLimits>
}

export class Sessions {
  readonly #machine: Machine
  readonly #clock: Clock
  readonly #limits: SessionLimits
  readonly #entries = new Map<string, Entry>()
  #lastId = 0
  #lastChunk = 0
  #watch: Timer | undefined

  constructor({ machine, clock, limits }: SessionsOptions) {
    this.#machine = machine
    this.#clock = clock
    this.#limits = { ...SESSION_LIMITS, ...limits }
  }

  /** Throws ToolFailure when too many are open or it cannot be started. */
  async start(request: SessionStart): Promise<SessionAnswer> {
    const { command, cwd, signal, onTail, yieldMs } = request
    this.#checkCount()
    const { keptBytes, yieldMinMs, yieldMaxMs } = this.#limits
    const id = `s${++this.#lastId}`
    const program = await this.#machine.onTerminal({
      command: asSession(command),
      ...(cwd !== undefined && { cwd }),
    })
    const onChange = () => {
      entry.activeAt = this.#clock.monotonic()
      entry.onTail(session.tail())
    }
    const now = this.#clock.monotonic()
    const session = startSession({ id, program, keptBytes, onChange }, now)
    const entry: Entry = { session, activeAt: now, onTail, command }
    this.#entries.set(id, entry)
    this.#watchIdle()
    signal.addEventListener("abort", () => void this.#drop(id), { once: true })
    if (signal.aborted) await this.#drop(id)
    return this.#deliver(id, entry, clamp(yieldMs, yieldMinMs, yieldMaxMs))
  }

  /** Throws ToolFailure for a session that is not there. */
  async write(request: {
    id: string
    input: string
    yieldMs: number
    onTail(output: string): void
  }): Promise<SessionAnswer> {
    const { id, input, yieldMs, onTail } = request
    const entry = this.#entries.get(id)
    if (!entry) throw new ToolFailure(noSession(id, this.open()))
    entry.activeAt = this.#clock.monotonic()
    entry.onTail = onTail
    if (input !== "") entry.session.write(input)
    const { pollMinMs, yieldMinMs, yieldMaxMs } = this.#limits
    return this.#deliver(
      id,
      entry,
      clamp(yieldMs, input === "" ? pollMinMs : yieldMinMs, yieldMaxMs),
    )
  }

  open = (): string[] => [...this.#entries.keys()]

  async close(): Promise<void> {
    await Promise.all(this.open().map((id) => this.#drop(id)))
  }

  /** Waits up to `ms` for its end, then tells what came. One that is over is forgotten. */
  async #deliver(id: string, entry: Entry, ms: number): Promise<SessionAnswer> {
    const { session } = entry
    await settledWithin(session.exited, ms)
    entry.onTail = () => {}
    entry.activeAt = this.#clock.monotonic()
    const code = session.exitCode()
    // What a command left behind in its group would outlive its owner.
    if (code !== undefined) await this.#drop(id)
    return {
      ...(code === undefined ? { session_id: id } : { exit_code: code }),
      output: session.take(),
      chunk_id: ++this.#lastChunk,
      wall_time_seconds: Math.round((this.#clock.monotonic() - session.startedAt) / 100) / 10,
    }
  }

  #checkCount(): void {
    const { count } = this.#limits
    if (this.#entries.size < count) return
    const open = [...this.#entries].map(([id, { command }]) => `${id} (${command})`).join(", ")
    throw new ToolFailure(
      `${count} sessions are open, the most there may be: ${open}. End one by writing exit or \\u0003 (Ctrl+C) to it with shell_write.`,
    )
  }

  #watchIdle(): void {
    const { idleMs } = this.#limits
    const every = Math.min(idleMs / 4, IDLE_CHECK_MS)
    this.#watch ??= setInterval(() => {
      for (const [id, { activeAt }] of this.#entries)
        if (this.#clock.monotonic() - activeAt >= idleMs) void this.#drop(id)
    }, every).unref()
  }

  async #drop(id: string): Promise<void> {
    const entry = this.#entries.get(id)
    this.#entries.delete(id)
    if (this.#entries.size === 0) {
      clearInterval(this.#watch)
      this.#watch = undefined
    }
    await entry?.session.end()
  }
}

const IDLE_CHECK_MS = 30_000

const clamp = (ms: number, min: number, max: number): number => Math.min(max, Math.max(min, ms))

const noSession = (id: string, open: readonly string[]): string =>
  `there is no session ${id}: it has ended, was idle too long, or its turn was cancelled. ${
    open.length > 0
      ? `Open are ${open.join(", ")}.`
      : "None is open; start one with shell and yield_ms."
  }`
