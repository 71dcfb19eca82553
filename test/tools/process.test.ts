import { afterEach, beforeEach, expect, test } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { keepOutput } from "../../src/tools/kept-output.ts"
import { type ProcessRequest, runProcess } from "../../src/tools/process.ts"
import { processLives } from "../support/process-lives.ts"

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "process-"))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const PATH = process.env.PATH ?? ""

const run = (script: string, changes: Partial<ProcessRequest> = {}) =>
  runProcess({
    command: ["sh", "-c", script],
    cwd: dir,
    environment: { PATH },
    timeoutMs: 20_000,
    signal: new AbortController().signal,
    ...changes,
  })

const pidsIn = (text: string): number[] => [...text.matchAll(/pid=(\d+)/g)].map((m) => Number(m[1]))

test("a program gets its input, its environment and its folder, and answers with code and streams", async () => {
  const result = await run('cat; echo "$NAME $HOME"; pwd; echo oops >&2; exit 3', {
    input: "привет 😀\n",
    environment: { PATH, NAME: "eva" },
  })
  expect(result).toMatchObject({ ended: "exit", exitCode: 3, signalCode: null })
  expect(result.stdout.text()).toBe(`привет 😀\neva \n${dir}\n`)
  expect(result.stderr.text()).toBe("oops\n")
})

test("a grandchild that holds the pipe does not hold the result, and does not survive", async () => {
  const result = await run("sleep 600 & echo pid=$!; echo done")
  expect(result).toMatchObject({ ended: "exit", exitCode: 0 })
  expect(result.stdout.text()).toEndWith("done\n")
  const [pid] = pidsIn(result.stdout.text())
  expect(await processLives(pid!)).toBe(false)
})

test("who left the group and holds the pipe is not waited for", async () => {
  const result = await run("setsid sleep 600 & echo pid=$!; echo done")
  expect(result).toMatchObject({ ended: "exit", exitCode: 0 })
  expect(result.stdout.text()).toEndWith("done\n")
  for (const pid of pidsIn(result.stdout.text())) process.kill(pid, "SIGKILL")
})

test("output that trails the exit by a moment is still read", async () => {
  const both = "first\nlate\n"
  let text = ""
  // On a busy machine the moment may be longer than what is waited; without any wait it is so each time.
  for (let trial = 0; trial < 50 && text !== both; trial++)
    text = (await run("(sleep 0.01; echo late) & echo first")).stdout.text()
  expect(text).toBe(both)
})

test("at the limit the whole group ends, and what was printed is kept", async () => {
  const script =
    "for i in 1 2 3; do echo line $i; done; sleep 60 & echo pid=$!; echo pid=$$; sleep 60"
  const result = await run(script, { timeoutMs: 300 })
  expect(result.ended).toBe("timeout")
  expect(result.stdout.text()).toStartWith("line 1\nline 2\nline 3\npid=")
  const pids = pidsIn(result.stdout.text())
  expect(pids).toHaveLength(2)
  for (const pid of pids) expect(await processLives(pid)).toBe(false)
})

test("who ignores the polite signal is ended by the other one", async () => {
  const script = "trap '' TERM; echo pid=$$; while :; do sleep 0.1; done"
  const result = await run(script, { timeoutMs: 200 })
  expect(result).toMatchObject({ ended: "timeout", exitCode: null, signalCode: "SIGKILL" })
  const [pid] = pidsIn(result.stdout.text())
  expect(await processLives(pid!)).toBe(false)
})

test("a cancel ends the group", async () => {
  const cancel = new AbortController()
  const result = run("sleep 60 & echo pid=$!; sleep 0.2; echo ready > ready; sleep 60", {
    signal: cancel.signal,
  })
  while (!(await Bun.file(join(dir, "ready")).exists())) await Bun.sleep(10)
  cancel.abort()
  const { ended, stdout } = await result
  expect(ended).toBe("cancelled")
  const [pid] = pidsIn(stdout.text())
  expect(await processLives(pid!)).toBe(false)
})

test("a cancel before the start starts nothing", async () => {
  const result = await run("touch started", { signal: AbortSignal.abort() })
  expect(result.ended).toBe("cancelled")
  expect(await Bun.file(join(dir, "started")).exists()).toBe(false)
})

test("input for a program that does not read it is lost without harm", async () => {
  const result = await run("exit 0", { input: "x".repeat(5_000_000) })
  expect(result).toMatchObject({ ended: "exit", exitCode: 0 })
})

test("a program that ends itself by a signal is reported with it", async () => {
  expect(await run("kill -9 $$")).toMatchObject({
    ended: "exit",
    exitCode: null,
    signalCode: "SIGKILL",
  })
})

test("what cannot start says why", async () => {
  const start = (command: string[], cwd = dir) => run("", { command, cwd })
  await Bun.write(join(dir, "plain.txt"), "no program")
  expect(start(["no-such-program"])).rejects.toThrow(
    "cannot start no-such-program: no such program in PATH",
  )
  expect(start([join(dir, "gone")])).rejects.toThrow("no such program")
  expect(start([join(dir, "plain.txt")])).rejects.toThrow("it is not executable")
  expect(start(["sh"], join(dir, "gone"))).rejects.toThrow(`cannot start sh: no folder ${dir}/gone`)
})

const FLOOD_BYTES = 256 * 1024 * 1024

test("a flood leaves head and tail, flat memory and a living event loop", async () => {
  Bun.gc(true)
  const before = process.memoryUsage.rss()
  let peak = before
  let ticks = 0
  const watch = setInterval(() => {
    ticks++
    peak = Math.max(peak, process.memoryUsage.rss())
  }, 20)
  const script = `echo first; head -c ${FLOOD_BYTES} /dev/zero | tr '\\0' a; echo; echo last`
  const result = await run(script, { timeoutMs: 240_000 })
  clearInterval(watch)

  expect(result).toMatchObject({ ended: "exit", exitCode: 0 })
  expect(result.stdout.totalBytes).toBe(FLOOD_BYTES + 12)
  const text = result.stdout.text()
  expect(text.length).toBeLessThan(1_000_100)
  expect(text).toStartWith("first\naaa")
  expect(text).toEndWith("aaa\nlast\n")
  expect(text).toContain(
    `[middle cut: ${FLOOD_BYTES + 12 - 1_000_000} bytes of ${FLOOD_BYTES + 12}]`,
  )
  // Who kept the flood would hold all of it; what other tests of this process left behind may be in the rest.
  expect(peak - before).toBeLessThan(FLOOD_BYTES)
  expect(ticks).toBeGreaterThan(5)
}, 240_000)

test("kept output cuts between characters and shows bytes that are no text", () => {
  const output = keepOutput(11)
  const bytes = Buffer.from("яяяяяяяяяяяя")
  for (const byte of bytes) output.push(Uint8Array.of(byte))
  expect(output.text()).toBe("яяя\n[middle cut: 13 bytes of 24]\nяя")

  const broken = keepOutput(100)
  broken.push(Buffer.from([0x61, 0xed, 0xa0, 0x80, 0x62, 0, 0x63]))
  expect(broken.text()).toBe("a\ufffd\ufffd\ufffdb␀c")
  expect(broken.isBinary()).toBe(false)
})

test("bytes of a program are told from text in any language", async () => {
  const kept = (bytes: Uint8Array) => {
    const output = keepOutput(1_000_000)
    output.push(bytes)
    return output.isBinary()
  }
  const elf = new Uint8Array(await Bun.file(Bun.which("sh")!).arrayBuffer())
  expect(kept(elf.subarray(0, 4000))).toBe(true)
  expect(kept(Buffer.from("плоский текст ".repeat(1000)))).toBe(false)
  expect(kept(Buffer.from("😀".repeat(5000)))).toBe(false)
  expect(kept(Buffer.from("a.txt\0dir/b.txt\0some/longer/path.txt\0".repeat(10)))).toBe(false)
  expect(kept(Buffer.from("\u001b[31mred\u001b[0m\r\n".repeat(10)))).toBe(false)
})
