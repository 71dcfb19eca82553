/** The shell's tools as a kernel offers them: gates, words, and who carries a command out. */
import { afterEach, expect, test } from "bun:test"
import { systemClock } from "../../src/lib/clock.ts"
import { createLocalMachine } from "../../src/shell/local-machine.ts"
import { Sessions } from "../../src/shell/sessions.ts"
import { shellTools } from "../../src/shell/tools.ts"
import { ToolFailure } from "../../src/tools/tool.ts"
import { plan, type TestKernel, testKernel } from "../support/kernel.ts"
import { guestIdentity, masterIdentity, reachTurn, runTool } from "../support/tools.ts"

let kernel: TestKernel | undefined
afterEach(async () => {
  await kernel?.dispose()
  kernel = undefined
})

const machine = createLocalMachine({ environment: { PATH: process.env.PATH ?? "" } })
const tools = shellTools({
  machine,
  sessions: new Sessions({ machine, clock: systemClock }),
  outputCap: undefined,
})
const tool = (name: string) => tools.find((each) => each.name === name)!

test("TSH-17: shell and its sessions ask who speaks and not from where, and need no confirmation", async () => {
  const untrusted = reachTurn({ identity: masterIdentity({ trusted: false, clientOps: false }) })
  const guest = reachTurn({ identity: guestIdentity() })
  for (const [name, input] of [
    ["shell", { command: "echo here", yield_ms: 20_000 }],
    ["shell_write", { session_id: "s9" }],
  ] as const) {
    const own = await runTool(tool(name), input, { turn: untrusted })
    expect(own.output).not.toContain("closed in this turn")
    const other = await runTool(tool(name), input, { turn: guest })
    expect(other).toMatchObject({
      isError: true,
      output: expect.stringContaining("only the master"),
    })
  }
})

test("TSH-20: nothing waits for a person: pagers, prompts and colours are off", async () => {
  kernel = await testKernel()
  const events = await kernel.turn(
    kernel.newChat(),
    plan([
      {
        call: "shell",
        input: { command: 'echo "$PAGER $GIT_PAGER $TERM $NO_COLOR $GIT_TERMINAL_PROMPT"' },
      },
      { say: "done" },
    ]),
  )
  expect(events.find(({ type }) => type === "tool_result")).toMatchObject({
    output: "cat cat dumb 1 0",
    is_error: false,
  })
})

test("TSH-21 TSH-22: the descriptions send reading to read_file, forbid made-up heads, and tell no gate", () => {
  for (const name of ["shell", "local_shell"]) {
    const { description } = tool(name)
    expect(description).toContain("as a list instead of separating them by echo")
    expect(description).toContain("read files with read_file")
    expect(description).not.toMatch(/master|owner|only for/i)
  }
  expect(tools.map(({ name, description }) => [name, description])).toMatchSnapshot()
})

test("TSH-11: shell_write tells the shape of its answers", () => {
  expect(tool("shell_write").output).toMatchObject({
    type: "object",
    required: ["output", "chunk_id", "wall_time_seconds"],
  })
})

test("TSH-23 S-12: local_shell has the client run it, with time for the user to think", async () => {
  const asked: unknown[] = []
  const answer = await runTool(
    tool("local_shell"),
    { command: ["make", "make test"], timeout_s: 5 },
    {
      clientOp: async (op, options) => {
        asked.push(op, options)
        return "== $ make\nok"
      },
    },
  )
  expect(answer).toEqual({ output: "== $ make\nok", isError: false })
  expect(asked).toEqual([
    { action: "shell", command: ["make", "make test"], timeout_ms: 5000 },
    { timeoutMs: 310_000 },
  ])
  const refused = await runTool(
    tool("local_shell"),
    { command: "ls" },
    {
      clientOp: () => Promise.reject(new ToolFailure("The user refused.")),
    },
  )
  expect(refused).toEqual({ output: "The user refused.", isError: true })
  const blocked = await runTool(
    tool("local_shell"),
    { command: "rm -rf /" },
    {
      clientOp: async () => "must not be asked",
    },
  )
  expect(blocked.isError).toBe(true)
  const without = reachTurn({ identity: masterIdentity({ clientOps: false }) })
  const gone = await runTool(tool("local_shell"), { command: "ls" }, { turn: without })
  expect(gone.output).toContain("does not offer client operations")
})

test("a turn's cancel ends its command, and the pair is closed", async () => {
  kernel = await testKernel()
  const { bus, turns } = kernel.api
  const chat = kernel.newChat()
  const { unsubscribe } = bus.subscribe({ chats: [chat] }, ({ type }) => {
    if (type === "tool_progress") void turns.cancelChat(chat)
  })
  const events = await kernel.turn(
    chat,
    plan([{ call: "shell", input: { command: "echo begun; sleep 60" } }, { say: "never" }]),
  )
  unsubscribe()
  expect(events.find(({ type }) => type === "tool_result")).toMatchObject({
    output: "begun\n[stopped: the turn was cancelled]",
    is_error: true,
  })
  expect(events.at(-1)).toMatchObject({ type: "done", reason: "cancelled" })
})
