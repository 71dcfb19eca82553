/** The same tools on an ssh host: a real sshd, a real ssh. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test"
import { parseJson } from "../../src/lib/json.ts"
import type { SessionAnswer } from "../../src/shell/sessions.ts"
import { createSshMachine } from "../../src/shell/ssh-machine.ts"
import type { Machine } from "../../src/tools/machine.ts"
import { processLives } from "../support/process-lives.ts"
import { canSsh, type SshHost, startSshHost } from "./ssh-host.ts"
import { pidIn, type ShellBench, shellBench } from "./support.ts"

describe.skipIf(!canSsh)("an ssh host", () => {
  let host: SshHost
  let machine: Machine
  let bench: ShellBench
  beforeAll(async () => {
    host = await startSshHost()
  })
  afterAll(() => host.stop())
  beforeEach(() => {
    machine = machineOf(host)
    bench = shellBench({ machine, limits: { pollMinMs: 50 } })
  })
  afterEach(() => bench.dispose())

  const shell = (command: string | string[], more: object = {}, options = {}) =>
    bench.call("shell", { command, ...more }, options)

  test("TSH-1: commands run there, in the chat's folder, with its variables and exit codes", async () => {
    expect(await shell('pwd; echo "$PAGER"; echo "it\'s $((1+1))"')).toEqual({
      output: `${bench.dir}\ncat\nit's 2`,
      isError: false,
    })
    expect(await shell("echo out; echo err >&2; exit 7")).toEqual({
      output: "out\n== stderr\nerr\n[exit code 7]",
      isError: true,
    })
    expect((await shell(["echo one", "false", "echo three"])).output).toEndWith(
      "== $ false\n[exit code 1]\n\nNot run:\n- echo three",
    )
  })

  test("all commands share one connection", async () => {
    const clients = async () => (await shell('echo "$SSH_CONNECTION"')).output
    const [first, second] = await Promise.all([clients(), clients()])
    expect(first).toMatch(/^127\.0\.0\.1 \d+ /)
    expect(second).toBe(first)
  })

  test("bytes go in and out as they are", async () => {
    const bytes = Uint8Array.from({ length: 100_000 }, (_, n) => (n * 7919) % 256)
    const { stdout, exitCode } = await machine.run({
      ...{
        command: "cat > copy && wc -c < copy && sha256sum < copy",
        cwd: bench.dir,
        input: bytes,
      },
      ...{ timeoutMs: 20_000, signal: new AbortController().signal },
    })
    const hash = new Bun.CryptoHasher("sha256").update(bytes).digest("hex")
    expect([exitCode, stdout.text()]).toEqual([0, `100000\n${hash}  -\n`])
  })

  test("TSH-18: a limit and a cancel end what runs there with its group", async () => {
    const late = await shell("sleep 60 & echo pid=$!; wait", { timeout_s: 6 })
    expect(late.output).toContain("[stopped after 6 s")
    await untilGone(pidIn(late.output))

    const cancel = new AbortController()
    const begun = Promise.withResolvers<string>()
    const done = shell(
      "sleep 60 & echo pid=$!; wait",
      {},
      {
        signal: cancel.signal,
        onProgress: begun.resolve,
      },
    )
    const pid = pidIn(await begun.promise)
    cancel.abort()
    expect((await done).isError).toBe(true)
    await untilGone(pid)
  })

  test("TSH-19: what is left behind there is ended, too", async () => {
    const { output } = await shell("sleep 60 >/dev/null 2>&1 & echo pid=$!; echo done")
    expect(output).toEndWith("done")
    await untilGone(pidIn(output))
  })

  test("TSH-9 TSH-16: sessions live there and end with the turn", async () => {
    const cancel = new AbortController()
    const { output } = await shell(
      'echo pid=$$; while read -r line; do echo "<$line>"; done',
      { yield_ms: 2000 },
      { signal: cancel.signal },
    )
    let said = (parseJson(output) as SessionAnswer).output
    let input = "here\n"
    while (!(said.includes("pid=") && said.includes("<here>"))) {
      const asked = { session_id: "s1", input, yield_ms: 1000 }
      const answer = await bench.call("shell_write", asked)
      said += (parseJson(answer.output) as SessionAnswer).output
      input = ""
    }
    cancel.abort()
    await untilGone(pidIn(said))
  })

  test("a connection that is lost is said to be, and the next command makes another", async () => {
    const begun = Promise.withResolvers<string>()
    const cut = shell("echo here; sleep 60", {}, { onProgress: begun.resolve })
    await begun.promise
    host.dropConnections()
    const { output, isError } = await cut
    expect([isError, output]).toEqual([
      true,
      expect.stringContaining("connection to workbench was lost"),
    ])
    expect((await shell("echo again")).output).toBe("again")
  })

  test("a host that cannot be reached is named with the reason", async () => {
    const nowhere = shellBench({ machine: machineOf(host, "no-such-host.invalid") })
    const { output, isError } = await nowhere.call("shell", { command: "true" })
    await nowhere.dispose()
    expect([isError, output]).toEqual([
      true,
      expect.stringContaining("cannot reach no-such-host.invalid by ssh: "),
    ])
  })
})

const machineOf = (host: SshHost, name = host.host): Machine =>
  createSshMachine({
    host: name,
    environment: { PATH: process.env.PATH ?? "", HOME: host.folder },
    remoteEnvironment: { PAGER: "cat" },
    sshArguments: host.sshArguments,
  })

async function untilGone(pid: number): Promise<void> {
  expect(pid).toBeGreaterThan(1)
  while (await processLives(pid)) await Bun.sleep(20)
}
