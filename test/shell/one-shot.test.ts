/** Commands that are waited for. */
import { afterEach, beforeEach, expect, test } from "bun:test"
import { processLives } from "../support/process-lives.ts"
import { pidIn, type ShellBench, shellBench } from "./support.ts"

let bench: ShellBench
beforeEach(() => {
  bench = shellBench()
})
afterEach(() => bench.dispose())

const shell = (command: string | string[], more: object = {}) =>
  bench.call("shell", { command, ...more })

test("TSH-1: sh -c runs in the chat's folder, with the pipes and quotes of sh", async () => {
  expect(await shell("pwd; echo 'a b' | tr a-z A-Z")).toEqual({
    output: `${bench.dir}\nA B`,
    isError: false,
  })
})

test("without a folder of the chat commands run in the home", async () => {
  const workdir = { path: undefined, on: "server" as const }
  const { output } = await bench.call("shell", { command: "pwd" }, { workdir })
  expect(output).toBe(process.env.HOME ?? "")
})

test("a failure tells its exit code and both streams", async () => {
  expect(await shell("echo out; echo err >&2; exit 3")).toEqual({
    output: "out\n== stderr\nerr\n[exit code 3]",
    isError: true,
  })
  expect((await shell("kill -9 $$")).output).toBe("[ended by SIGKILL]")
  expect((await shell("true")).output).toBe("[empty]")
})

test("TSH-2: a list runs in order, each command under its own head", async () => {
  expect((await shell(["echo one", "true", "echo two"])).output).toBe(
    "== $ echo one\none\n\n== $ true\n[empty]\n\n== $ echo two\ntwo",
  )
})

test("TSH-3: a list stops at the first failure and says what was not run", async () => {
  expect(await shell(["echo one", "echo no >&2; exit 2", "echo three", "echo four"])).toEqual({
    output:
      "== $ echo one\none\n\n== $ echo no >&2; exit 2\nno\n[exit code 2]\n\nNot run:\n- echo three\n- echo four",
    isError: true,
  })
})

test("TSH-4 TSH-18: the limit is each command's own; what was printed is in the error, and the group is gone", async () => {
  const { output, isError } = await shell(
    ["sleep 2.1; echo one", "sleep 2.1; echo two", "sleep 60 & echo pid=$!; wait"],
    { timeout_s: 4 },
  )
  expect(isError).toBe(true)
  expect(output).toContain("one\n\n== $ sleep 2.1; echo two\ntwo\n\n")
  expect(output).toContain("[stopped after 4 s")
  expect(await processLives(pidIn(output))).toBe(false)
})

test("TSH-5: a list and a session do not go together", async () => {
  expect(await shell(["echo one"], { yield_ms: 1000 })).toEqual({
    output: "yield_ms makes one session, so it takes one command and no list",
    isError: true,
  })
})

test("TSH-6: output is given whole unless shell.output_cap says otherwise", async () => {
  const command = "seq 1 20000"
  expect((await shell(command)).output.split("\n")).toHaveLength(20_000)
  const capped = shellBench({ outputCap: 2000 })
  const { output } = await capped.call("shell", { command })
  await capped.dispose()
  expect(output.length).toBeLessThan(2100)
  expect(output).toStartWith("1\n2\n")
  expect(output).toEndWith("20000")
})

test("TSH-7: of a stream 1 MiB is kept, its head and its tail, and the middle is counted", async () => {
  const { output } = await shell("seq 1 1000000")
  expect(output).toStartWith("1\n2\n3\n")
  expect(output).toEndWith("999999\n1000000")
  expect(output.match(/\[middle cut: .*\]/)?.[0]).toBe("[middle cut: 5888896 bytes of 6888896]")
  expect(output.length).toBeLessThan(1_000_100)
})

test("TSH-8: what runs shows its newest output meanwhile", async () => {
  await shell("mkfifo gate")
  const shown = Promise.withResolvers<string>()
  const done = bench.call(
    "shell",
    { command: "echo первое; read -r go < gate; echo second" },
    { onProgress: shown.resolve },
  )
  expect(await shown.promise).toBe("первое\n")
  await shell("echo go > gate")
  expect((await done).output).toBe("первое\nsecond")
})

test("TSH-19: what a command leaves behind does not hold its answer, and does not outlive it", async () => {
  const { output } = await shell("sleep 60 & echo pid=$!; echo done")
  expect(output).toEndWith("done")
  expect(await processLives(pidIn(output))).toBe(false)
})

test("bytes are told as such, half characters and NULs do no harm", async () => {
  expect((await shell("head -c 4096 /dev/urandom")).output).toContain("binary output: 4096 bytes")
  expect((await shell("printf 'при\\321'")).output).toBe("при�")
  expect((await shell("printf 'a\\0b'")).output).toBe("a␀b")
})

test("a cancel ends the whole group and answers", async () => {
  const cancel = new AbortController()
  const started = Promise.withResolvers<string>()
  const done = bench.call(
    "shell",
    { command: "sleep 60 & echo pid=$!; wait" },
    { signal: cancel.signal, onProgress: (text) => started.resolve(text) },
  )
  const pid = pidIn(await started.promise)
  cancel.abort()
  const { output, isError } = await done
  expect([isError, output]).toEqual([true, `pid=${pid}\n[stopped: the turn was cancelled]`])
  expect(await processLives(pid)).toBe(false)
})

test("a quarter of a gigabyte of output leaves memory as it was", async () => {
  Bun.gc(true)
  const before = process.memoryUsage.rss()
  const { output } = await shell("head -c 268435456 /dev/zero | tr '\\0' x; echo; echo end")
  expect(output.slice(-4)).toBe("\nend")
  expect(output.match(/\[middle cut: .*\]/)?.[0]).toEndWith("of 268435461]")
  // Asked of what is kept, not of when the collector comes.
  Bun.gc(true)
  expect(process.memoryUsage.rss() - before).toBeLessThan(256 * 1024 * 1024)
}, 180_000)
