/** The tools of the shell. */
import { type Static, Type } from "@sinclair/typebox"
import type { Machine } from "../tools/machine.ts"
import { type Tool, type ToolContext, ToolFailure } from "../tools/tool.ts"
import { forbidden } from "./blocklist.ts"
import { runOneShot } from "./one-shot.ts"
import { SESSION_LIMITS, type SessionAnswer, type Sessions } from "./sessions.ts"

export interface ShellParts {
  machine: Machine
  sessions: Sessions
  outputCap: number | undefined
}

const TIMEOUT_S = 60
const TIMEOUT_MAX_S = 3600
/** How long a user may think about a command on his own machine. */
const APPROVAL_MS = 300_000
/** A result of a command comes a little after its end: its group has to end, the pipes to drain. */
const OVERTIME_MS = 10_000
const YIELD_MS = 1000
/** Each command has its own limit, and a list may be long. Timers hold three weeks at most. */
const FOREVER_MS = 2 ** 31 - 1

const Command = Type.Union(
  [Type.String({ minLength: 1 }), Type.Array(Type.String({ minLength: 1 }), { minItems: 1 })],
  { description: "A command, or several to run in order up to the first failure" },
)
const Timeout = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: TIMEOUT_MAX_S,
    description: `Seconds for each command; ${TIMEOUT_S} when absent`,
  }),
)
const yieldMs = (description: string) =>
  Type.Optional(
    Type.Integer({
      minimum: SESSION_LIMITS.yieldMinMs,
      maximum: SESSION_LIMITS.yieldMaxMs,
      description,
    }),
  )

const ShellInput = Type.Object(
  {
    command: Command,
    timeout_s: Timeout,
    yield_ms: yieldMs("Wait so long, then let it run on as a session for shell_write"),
  },
  { additionalProperties: false },
)
type ShellInput = Static<typeof ShellInput>

const WriteInput = Type.Object(
  {
    session_id: Type.String(),
    input: Type.Optional(Type.String({ description: "Written as it is: end a line with \\n" })),
    yield_ms: yieldMs("How long to wait for output"),
  },
  { additionalProperties: false },
)
type WriteInput = Static<typeof WriteInput>

const SessionOutput = Type.Object({
  session_id: Type.Optional(Type.String({ description: "Absent when it is over" })),
  output: Type.String(),
  chunk_id: Type.Integer(),
  wall_time_seconds: Type.Number(),
  exit_code: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
})

const LocalInput = Type.Object(
  { command: Command, timeout_s: Timeout },
  { additionalProperties: false },
)
type LocalInput = Static<typeof LocalInput>

const MANNERS =
  "Pass several commands as a list instead of separating them by echo; read files with read_file."

export function shellTools({ machine, sessions, outputCap }: ShellParts): Tool[] {
  const where = machine.remote ? `the ssh host ${machine.name}` : "the server"
  return [
    {
      name: "shell",
      group: "shell",
      icon: "💻",
      brief: "{command}",
      description: `Runs commands with sh on ${where}, without a terminal. What a command leaves in the background ends with it: use yield_ms for what must run on. ${MANNERS}`,
      input: ShellInput,
      gates: ["master_only"],
      traits: { waitsOnCancel: true },
      timeoutMs: FOREVER_MS,
      run: async (context, input) =>
        runShell({ machine, sessions, outputCap }, context, input as ShellInput),
    },
    {
      name: "shell_write",
      group: "shell",
      icon: "💻",
      brief: "{session_id}",
      description:
        "Writes to a session of shell and reads what it printed since. Without input it waits at least 5 s for news.",
      input: WriteInput,
      output: SessionOutput,
      gates: ["master_only"],
      traits: {},
      timeoutMs: SESSION_LIMITS.yieldMaxMs + OVERTIME_MS,
      run: async (context, input) => {
        const { session_id: id, input: text = "", yield_ms = YIELD_MS } = input as WriteInput
        return answer(
          await sessions.write({ id, input: text, yieldMs: yield_ms, onTail: context.progress }),
        )
      },
    },
    {
      name: "local_shell",
      group: "client",
      icon: "💻",
      brief: "{command}",
      description: `Runs commands with sh on the user's own machine, through his client; he may be asked first. ${MANNERS}`,
      input: LocalInput,
      gates: ["master_only", "client_only", "not_public"],
      traits: { waitsOnCancel: true },
      timeoutMs: FOREVER_MS,
      run: async (context, input) => {
        const { command, timeout_s = TIMEOUT_S } = input as LocalInput
        const commands = checked(command)
        const timeout_ms = timeout_s * 1000
        const whole = timeout_ms * commands.length + APPROVAL_MS
        const output = await context.clientOp(
          { action: "shell", command, timeout_ms },
          { timeoutMs: whole },
        )
        return { output: output || "[empty]" }
      },
    },
  ]
}

async function runShell(parts: ShellParts, context: ToolContext, input: ShellInput) {
  const { machine, sessions, outputCap } = parts
  const { command, timeout_s = TIMEOUT_S, yield_ms } = input
  const commands = checked(command)
  const cwd = context.workdir.on === "server" ? context.workdir.path : undefined
  const { signal, progress: onTail } = context
  if (yield_ms === undefined) {
    const timeoutMs = timeout_s * 1000
    return {
      output: await runOneShot(machine, { commands, cwd, timeoutMs, signal, onTail, outputCap }),
    }
  }
  const [only, ...others] = commands
  if (only === undefined || others.length > 0 || Array.isArray(command)) {
    throw new ToolFailure("yield_ms makes one session, so it takes one command and no list")
  }
  const told = await sessions.start({ command: only, cwd, signal, yieldMs: yield_ms, onTail })
  // What runs on is written to and read with it.
  return { ...answer(told), ...(told.session_id !== undefined && { offers: ["shell_write"] }) }
}

const answer = (told: SessionAnswer) => ({ output: JSON.stringify(told) })

/** The commands as a list. Throws ToolFailure for one that never runs. */
function checked(command: string | readonly string[]): readonly string[] {
  const commands = typeof command === "string" ? [command] : command
  for (const one of commands) {
    const refusal = forbidden(one)
    if (refusal !== undefined) throw new ToolFailure(refusal)
  }
  return commands
}
