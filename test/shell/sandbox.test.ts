/** Commands inside bubblewrap: a real bwrap. */
import { describe, expect, test } from "bun:test"
import { mkdtempSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { KernelError } from "../../src/lib/error.ts"
import { createSandbox, type SandboxOptions } from "../../src/shell/sandbox.ts"
import { processLives } from "../support/process-lives.ts"
import { canSandbox } from "./can-sandbox.ts"
import { shellBench } from "./support.ts"

/** The sandbox has a /tmp of its own, so what is shared must lie elsewhere. */
const OUTSIDE = "/var/tmp"

const PATH = process.env.PATH ?? ""

async function within<T>(
  options: Partial<SandboxOptions>,
  use: (run: (command: string, more?: object) => Promise<string>, dir: string) => Promise<T>,
): Promise<T> {
  const dir = realpathSync(mkdtempSync(join(OUTSIDE, "eva-sandbox-")))
  const writable = options.writable ?? [dir]
  const bench = shellBench({
    sandbox: createSandbox({ network: true, ...options, writable }, PATH),
  })
  const workdir = { path: dir, on: "server" as const }
  try {
    return await use(
      async (command, more = {}) =>
        (await bench.call("shell", { command, ...more }, { workdir })).output,
      dir,
    )
  } finally {
    await bench.dispose()
    rmSync(dir, { recursive: true, force: true })
  }
}

describe.skipIf(!canSandbox)("the sandbox", () => {
  test("writes reach what is listed and nothing else; /tmp is private", () =>
    within({}, async (run, dir) => {
      expect(await run("echo here > mine && cat mine")).toBe("here")
      expect(await run(`echo no > ${OUTSIDE}/eva-not-listed`)).toContain("Read-only file system")
      expect(await run("echo x > /tmp/of-the-sandbox && ls /tmp")).toBe("of-the-sandbox")
      expect(await Bun.file(join(tmpdir(), "of-the-sandbox")).exists()).toBe(false)
      expect(await Bun.file(join(dir, "mine")).text()).toBe("here\n")
    }))

  test("without a list nothing can be written", () =>
    within({ writable: [] }, async (run) => {
      expect(await run("echo x > mine")).toContain("Read-only file system")
    }))

  test("the network is there or not, as the setting says", () =>
    within({ network: false }, async (run) => {
      const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("ok") })
      const ask = `cat < /dev/tcp/127.0.0.1/${server.port}`
      expect(await run(`bash -c '${ask}'`)).toMatch(/refused|unreachable|exit code/)
      await server.stop(true)
    }))

  test("sessions run inside", () =>
    within({}, async (run) => {
      const answer = await run("echo x > /etc/eva-test", { yield_ms: 30_000 })
      expect(answer).toContain("Read-only file system")
    }))

  test("a limit ends everything inside", () =>
    within({}, async (run) => {
      const before = await sleepers()
      expect(await run("sleep 4321 & sleep 4321", { timeout_s: 1 })).toContain("[stopped after 1 s")
      for (const pid of await sleepers()) {
        if (before.includes(pid)) continue
        while (await processLives(pid)) await Bun.sleep(20)
      }
    }))
})

async function sleepers(): Promise<number[]> {
  const { stdout } = Bun.spawnSync(["pgrep", "-f", "sleep 4321"])
  return stdout.toString().split("\n").filter(Boolean).map(Number)
}

test("a sandbox that cannot be stops the start with the package or the path to mend", () => {
  const problem = (options: SandboxOptions, path: string): unknown => {
    try {
      createSandbox(options, path)
      return undefined
    } catch (error) {
      return error instanceof KernelError ? [error.path, error.message] : error
    }
  }
  expect(problem({ writable: [], network: true }, "/nowhere")).toEqual([
    "shell.sandbox",
    "bwrap is not installed: install the package bubblewrap, or set shell.sandbox: none",
  ])
  if (!canSandbox) return
  expect(problem({ writable: ["/no/such"], network: true }, PATH)).toEqual([
    "shell.writable",
    "/no/such does not exist; make it, or take it out of the list",
  ])
})
