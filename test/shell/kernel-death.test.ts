/** A kernel that is killed leaves no process behind: real kills of a real process with the real machines. */
import { afterEach, describe, expect, test } from "bun:test"
import { join } from "node:path"
import { processLives } from "../support/process-lives.ts"
import { canSandbox } from "./can-sandbox.ts"
import { canSsh, startSshHost } from "./ssh-host.ts"

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

/** Starts the process, waits until a command and a session run, kills it, and waits for their end. */
async function killed(...args: string[]): Promise<void> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "dying-kernel.ts"), ...args], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  })
  ends.push(() => child.kill("SIGKILL"))
  let said = ""
  for await (const chunk of child.stdout) {
    said += new TextDecoder().decode(chunk)
    if (/command=\d+\s/.test(said) && /session=\d+\s/.test(said)) break
  }
  const pids = [...said.matchAll(/=(\d+)\s/g)].map(([, pid]) => Number(pid))
  const there = (pid: number) => processLives(pid)
  if (args[0] !== "bwrap") expect(await Promise.all(pids.map(there))).not.toContain(false)
  const started = args[0] === "bwrap" ? await childrenOf(child.pid) : pids
  expect(started.length).toBeGreaterThanOrEqual(2)
  child.kill("SIGKILL")
  await child.exited
  for (const pid of started) while (await there(pid)) await Bun.sleep(20)
}

/** All descendants: in a sandbox what commands call their id is not what the system calls it. */
async function childrenOf(pid: number): Promise<number[]> {
  const { stdout } = Bun.spawnSync(["pgrep", "-P", String(pid)])
  const direct = stdout.toString().split("\n").filter(Boolean).map(Number)
  return [...direct, ...(await Promise.all(direct.map(childrenOf))).flat()]
}

describe.skipIf(process.platform !== "linux")("after kill -9 of the kernel", () => {
  test("no command and no session is left, however stubborn", () => killed("local"))

  test.skipIf(!canSandbox)("none is left in the sandbox", () => killed("bwrap"))

  test.skipIf(!canSsh)("none is left on the ssh host", async () => {
    const host = await startSshHost()
    ends.push(() => host.stop())
    await killed("ssh", host.host, host.sshArguments[1]!)
  })
})
