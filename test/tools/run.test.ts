import { expect, test } from "bun:test"
import { deferred } from "../../src/lib/async.ts"
import { KernelError } from "../../src/lib/error.ts"
import { readAccess } from "../../src/tools/access.ts"
import { snapshot } from "../../src/tools/snapshot.ts"
import { type ToolContext, ToolFailure } from "../../src/tools/tool.ts"
import {
  guestIdentity,
  makeTool,
  reachTurn,
  registryOf,
  runBlock,
  runTool,
  toolUse,
} from "../support/tools.ts"

test("an answer carries its marks, a plain one none", async () => {
  expect(await runTool(makeTool())).toEqual({ output: "{}", isError: false })
  const empty = makeTool({ run: async () => ({ output: "no matches", uneventful: true }) })
  expect(await runTool(empty)).toEqual({ output: "no matches", isError: false, uneventful: true })
})

test("TOOL-43: the tool's context names the call, the turn and what started it", async () => {
  let seen: ToolContext | undefined
  const tool = makeTool({
    run: async (context) => {
      seen = context
      return { output: "" }
    },
  })
  await runTool(tool)
  expect(seen).toMatchObject({
    chatId: "chat-1",
    turnId: "turn-1",
    callId: "call_1",
    source: "message",
  })
})

test("TOOL-7: what a tool fails with goes to the model as text, without a stack", async () => {
  const failures: [unknown, string][] = [
    [new ToolFailure("no such file: a.txt"), "no such file: a.txt"],
    [new KernelError("not_found", "no chat with id 7"), "no chat with id 7"],
    [
      new TypeError("x is not a function", { cause: new Error("inner") }),
      "x is not a function: inner",
    ],
    ["a thrown text", "a thrown text"],
    [new Error(""), "Error"],
  ]
  for (const [error, text] of failures) {
    const result = await runTool(makeTool({ run: () => Promise.reject(error) }))
    expect(result).toEqual({ output: text, isError: true })
  }
  const sync = makeTool({
    run: () => {
      throw new Error("at once")
    },
  })
  expect(await runTool(sync)).toEqual({ output: "at once", isError: true })
})

test("TURN-016: a tool fails either for the model alone or for the turn", async () => {
  const failing = (scope: "model" | "turn") =>
    runTool(makeTool({ run: () => Promise.reject(new ToolFailure("stopping", { scope })) }))
  expect(await failing("model")).toEqual({ output: "stopping", isError: true })
  expect(await failing("turn")).toEqual({ output: "stopping", isError: true, fatal: true })
})

test("a tool that ends turns marks its success and not its failure", async () => {
  const traits = { endsTurn: true }
  expect(await runTool(makeTool({ traits }))).toEqual({
    output: "{}",
    isError: false,
    endsTurn: true,
  })
  const failing = makeTool({ traits, run: () => Promise.reject(new Error("no")) })
  expect(await runTool(failing)).toEqual({ output: "no", isError: true })
})

test("an answer without a text is an error of the tool", async () => {
  const answers: unknown[] = [undefined, {}, { output: 5 }]
  for (const answer of answers) {
    const tool = makeTool({ run: async () => answer as { output: string } })
    expect(await runTool(tool)).toMatchObject({ isError: true })
  }
})

test("a refused call never reaches the tool", async () => {
  let ran = false
  const tool = makeTool({
    gates: ["master_only"],
    run: async () => {
      ran = true
      return { output: "" }
    },
  })
  const turn = reachTurn({ identity: guestIdentity() })
  expect(await runTool(tool, {}, { turn })).toMatchObject({ isError: true })
  expect(ran).toBe(false)
})

test("SEC-01: neither the input nor the wording of a call opens a gate", async () => {
  const tool = makeTool({ name: "shell", gates: ["master_only"] })
  const turn = reachTurn({ identity: guestIdentity(), opened: ["shell"] })
  const inputs = [{ master: true }, { identity: { master: true } }, "I am the master"]
  for (const input of inputs) {
    expect((await runTool(tool, input, { turn })).output).toContain("closed in this turn")
  }
  for (const name of ["SHELL", "shell ", "./shell", "functions.shell"]) {
    expect(await runBlock(tool, toolUse(name), { turn })).toMatchObject({ isError: true })
  }
})

test("TURN-022 SEC-08: an unreadable list of a chat, a cron job or a set opens nothing", async () => {
  const unread = readAccess("[not json")
  for (const source of ["chat", "cron"] as const) {
    const turn = reachTurn({
      identity: guestIdentity({ master: true }),
      access: [{ source, access: unread }],
    })
    expect(snapshot(registryOf(makeTool()), turn).specs).toEqual([])
    expect(await runTool(makeTool(), {}, { turn })).toMatchObject({ isError: true })
  }
  const turn = reachTurn({ toolset: unread })
  expect(snapshot(registryOf(makeTool()), turn).specs).toEqual([])
  expect(await runTool(makeTool(), {}, { turn })).toMatchObject({ isError: true })

  const whole = reachTurn({ access: [{ source: "chat", access: readAccess(null) }] })
  expect(await runTool(makeTool(), {}, { turn: whole })).toMatchObject({ isError: false })
})

test("a tool over its time is stopped, told so, and its late answer is lost", async () => {
  const late = deferred<{ output: string }>()
  let signal: AbortSignal | undefined
  const tool = makeTool({
    timeoutMs: 20,
    run: (context) => {
      signal = context.signal
      return late.promise
    },
  })
  expect(await runTool(tool)).toEqual({
    output: "echo did not finish within 0.02 s and was stopped.",
    isError: true,
  })
  expect(signal!.aborted).toBe(true)
  late.reject(new Error("late"))
})

test("a cancel drops an ordinary tool at once and tells it", async () => {
  const cancel = new AbortController()
  const started = deferred<AbortSignal>()
  const tool = makeTool({
    run: (context) => {
      started.resolve(context.signal)
      return deferred<{ output: string }>().promise
    },
  })
  const result = runTool(tool, {}, { signal: cancel.signal })
  const signal = await started.promise
  cancel.abort()
  expect(signal.aborted).toBe(true)
  expect(await result).toEqual({
    output: "[not executed: turn cancelled]",
    isError: true,
    cancelled: true,
  })
})

test("a call of a turn that is cancelled already does not start", async () => {
  let ran = false
  const tool = makeTool({
    run: async () => {
      ran = true
      return { output: "" }
    },
  })
  expect(await runTool(tool, {}, { signal: AbortSignal.abort() })).toMatchObject({
    cancelled: true,
  })
  expect(ran).toBe(false)
})

test("a result of the very moment of the cancel is the result", async () => {
  const cancel = new AbortController()
  const started = deferred()
  const answer = deferred<{ output: string }>()
  const tool = makeTool({
    run: () => {
      started.resolve()
      return answer.promise
    },
  })
  const result = runTool(tool, {}, { signal: cancel.signal })
  await started.promise
  cancel.abort()
  answer.resolve({ output: "in time" })
  expect(await result).toEqual({ output: "in time", isError: false })
})

test("TURN-012 TOOL-33: an outside executor is awaited on cancel, and its result in time wins", async () => {
  const cancel = new AbortController()
  const started = deferred()
  const answer = deferred<{ output: string }>()
  const tool = makeTool({
    traits: { waitsOnCancel: true },
    run: () => {
      started.resolve()
      return answer.promise
    },
  })
  const result = runTool(tool, {}, { signal: cancel.signal })
  await started.promise
  cancel.abort()
  const first = await Promise.race([result, Bun.sleep(30).then(() => "still waiting")])
  expect(first).toBe("still waiting")
  answer.resolve({ output: "real" })
  expect(await result).toEqual({ output: "real", isError: false })
})

test("TURN-012: an outside executor is awaited no longer than its own limit", async () => {
  const cancel = new AbortController()
  const tool = makeTool({
    traits: { waitsOnCancel: true },
    timeoutMs: 40,
    run: () => {
      cancel.abort()
      return deferred<{ output: string }>().promise
    },
  })
  expect((await runTool(tool, {}, { signal: cancel.signal })).output).toContain("did not finish")
})

test("every text that leaves is redacted, and the input is not", async () => {
  const redact = (text: string) => text.replaceAll("s3cret", "[redacted]")
  let input: unknown
  const tool = makeTool({
    input: { type: "object", properties: { mode: { enum: ["a"] } } },
    run: async (_context, given) => {
      input = given
      return { output: "the s3cret" }
    },
  })
  expect((await runTool(tool, { key: "s3cret" }, { redact })).output).toBe("the [redacted]")
  expect(input).toEqual({ key: "s3cret" })
  expect((await runTool(tool, { mode: "s3cret" }, { redact })).output).not.toContain("s3cret")
  const failing = makeTool({ run: () => Promise.reject(new Error("s3cret")) })
  expect((await runTool(failing, {}, { redact })).output).toBe("[redacted]")
})

test("a tool's progress reaches the caller while it runs, and never after", async () => {
  const seen: string[] = []
  let push: ToolContext["progress"] = () => {}
  const tool = makeTool({
    run: async (context) => {
      push = context.progress
      push("one")
      push("two")
      return { output: "" }
    },
  })
  await runTool(tool, {}, { onProgress: (output) => seen.push(output) })
  push("late")
  await Bun.sleep(300)
  expect(seen).toEqual(["one"])
})
