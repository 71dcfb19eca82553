/** Commands that live longer than a call. */
import { afterEach, beforeEach, expect, test } from "bun:test"
import { manualClock } from "../../src/lib/clock.ts"
import { parseJson } from "../../src/lib/json.ts"
import type { SessionAnswer } from "../../src/shell/sessions.ts"
import { processLives } from "../support/process-lives.ts"
import { pidIn, type ShellBench, shellBench } from "./support.ts"

let bench: ShellBench
beforeEach(() => {
  bench = shellBench({ limits: { pollMinMs: 50 } })
})
afterEach(() => bench.dispose())

const asAnswer = (output: string): SessionAnswer => parseJson(output) as SessionAnswer

async function told(name: string, input: object, options = {}): Promise<SessionAnswer> {
  const { output, isError } = await bench.call(name, input, options)
  if (isError) throw new Error(output)
  return asAnswer(output)
}
const start = (command: string, options = {}) => told("shell", { command, yield_ms: 250 }, options)

/** Polls until the output that came in all holds the text. */
async function until(id: string, text: string): Promise<string> {
  let all = ""
  for (let poll = 0; poll < 200 && !all.includes(text); poll++)
    all += (await told("shell_write", { session_id: id, yield_ms: 250 })).output
  return all
}

test("TSH-10: a command that ends in time answers with its exit code and no session", async () => {
  const answer = await told("shell", { command: "echo quick; exit 4", yield_ms: 20_000 })
  expect(answer).toEqual({
    output: "quick\n",
    chunk_id: 1,
    wall_time_seconds: expect.any(Number),
    exit_code: 4,
  })
  expect(bench.sessions.open()).toEqual([])
})

test("TSH-9 TSH-11 S-17: one that does not becomes a session that is written to and read", async () => {
  const first = await start('echo ready; while read -r line; do echo "<$line>"; done')
  expect(first).toEqual({
    session_id: "s1",
    output: expect.any(String),
    chunk_id: 1,
    wall_time_seconds: expect.any(Number),
  })
  await told("shell_write", { session_id: "s1", input: "привет\n", yield_ms: 250 }).then(
    async ({ output }) => {
      const all = first.output + output + (output.includes(">") ? "" : await until("s1", ">"))
      expect(all).toBe("ready\n<привет>\n")
    },
  )
  // Ctrl+D ends the input, and with it the loop.
  const last = await told("shell_write", { session_id: "s1", input: "\u0004", yield_ms: 30_000 })
  expect(last).toMatchObject({ exit_code: 0 })
  expect(last.session_id).toBeUndefined()
  expect(await bench.call("shell_write", { session_id: "s1" })).toMatchObject({
    isError: true,
    output: expect.stringContaining("there is no session s1"),
  })
})

test("TSH-12: each delivery has a higher number", async () => {
  await start("cat")
  const ids = [1, 2].map(() => told("shell_write", { session_id: "s1", yield_ms: 250 }))
  const [second, third] = await Promise.all(ids)
  expect([second!.chunk_id, third!.chunk_id].sort()).toEqual([2, 3])
})

test("TSH-13: an empty poll waits its least time, one with input does not", async () => {
  const slow = shellBench({ limits: { pollMinMs: 4000 } })
  await slow.call("shell", { command: "cat", yield_ms: 250 })
  const time = async (input: object) => {
    const began = performance.now()
    await slow.call("shell_write", { session_id: "s1", yield_ms: 250, ...input })
    return performance.now() - began
  }
  const empty = await time({})
  const filled = await time({ input: "x\n" })
  await slow.dispose()
  expect(empty).toBeGreaterThanOrEqual(3990)
  expect(filled).toBeLessThan(empty)
})

test("TSH-14 S-16: of sixteen sessions none gives way, and a further one is told which are open", async () => {
  const few = shellBench({ limits: { count: 2 } })
  for (const _ of [1, 2]) await few.call("shell", { command: "sleep 60", yield_ms: 250 })
  const { output, isError } = await few.call("shell", { command: "sleep 60", yield_ms: 250 })
  await few.dispose()
  expect(isError).toBe(true)
  expect(output).toContain(
    "2 sessions are open, the most there may be: s1 (sleep 60), s2 (sleep 60)",
  )
})

test("TSH-15: one that is idle too long is ended with its group", async () => {
  const clock = manualClock(0)
  const brief = shellBench({ clock, limits: { idleMs: 400 } })
  const command = "sleep 60 & echo pid=$!; wait"
  let { output } = asAnswer((await brief.call("shell", { command, yield_ms: 250 })).output)
  while (!output.includes("\n")) {
    const polled = await brief.call("shell_write", { session_id: "s1", input: "\n", yield_ms: 250 })
    output += asAnswer(polled.output).output
  }
  expect(await processLives(pidIn(output))).toBe(true)
  clock.advance(399)
  expect(brief.sessions.open()).toEqual(["s1"])
  clock.advance(1)
  while (brief.sessions.open().length > 0) await Bun.sleep(20)
  while (await processLives(pidIn(output))) await Bun.sleep(20)
  await brief.dispose()
})

test("TSH-16: a cancel of the turn ends the sessions that it began, and no others", async () => {
  const cancel = new AbortController()
  await start("sleep 60")
  const { output, session_id } = await start("sleep 60 & echo pid=$!; wait", {
    signal: cancel.signal,
  })
  const pid = pidIn(output || (await until(session_id!, "pid=")))
  cancel.abort()
  while (await processLives(pid)) await Bun.sleep(20)
  expect(bench.sessions.open()).toEqual(["s1"])
})

test("nothing of a session outlives the kernel's stop", async () => {
  const { output, session_id } = await start("sleep 60 & echo pid=$!; wait")
  const pid = pidIn(output || (await until(session_id!, "pid=")))
  await bench.sessions.close()
  expect(await processLives(pid)).toBe(false)
})
