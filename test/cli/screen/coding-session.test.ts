/**
 * One coding session from the first search to the undo, in a real repository, by a plan that the mock plays:
 * on the machine of the person who sits at the terminal, on that of the kernel, and on an ssh host.
 */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import { chmodSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Item } from "../../../src/schema/item.ts"
import { canSsh, type SshHost, startSshHost } from "../../shell/ssh-host.ts"
import type { Emulated } from "../../support/emulated-terminal.ts"
import { plan } from "../../support/kernel.ts"
import { CONFIG } from "../../support/served.ts"
import {
  conversation,
  createStage,
  KEY,
  type Stage,
  type StageOptions,
  timesIn,
} from "./support.ts"

setDefaultTimeout(240_000)

const FILES = {
  "total.sh": "#!/bin/sh\necho $(($1 - $2))\n",
  "test.sh": '#!/bin/sh\n[ "$(sh total.sh 2 3)" = 5 ] && echo passed\n',
  "notes.md": "# Notes\n\nNothing yet.\n",
  "AGENTS.md": "Every change is told in CHANGES.\n",
}

let repository: string
let stage: Stage | undefined
let host: SshHost | undefined
beforeEach(() => {
  repository = realpathSync(mkdtempSync(join(tmpdir(), "eva-repository-")))
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(repository, name), text)
  git("init", "-q")
  git("add", ".")
  git("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "-qm", "Begin")
})
afterEach(async () => {
  await stage?.dispose()
  await host?.stop()
  stage = undefined
  host = undefined
  rmSync(repository, { recursive: true, force: true })
})

function git(...args: string[]): string {
  const { stdout, stderr, exitCode } = Bun.spawnSync(["git", "-C", repository, ...args])
  if (exitCode !== 0) throw new Error(stderr.toString())
  return stdout.toString()
}

const PATCH = [
  "*** Begin Patch",
  "*** Update File: test.sh",
  "@@",
  '-[ "$(sh total.sh 2 3)" = 5 ] && echo passed',
  '+[ "$(sh total.sh 2 3)" = 5 ] && [ "$(sh total.sh 0 1)" = 1 ] && echo passed',
  "*** Add File: CHANGES",
  "+Sums add.",
  "*** End Patch",
].join("\n")

const DONE = "All of it is done."

/** Searches, reads, loads what is not at hand, edits, writes, patches, and runs the same command twice. */
const work = (shell: string): string => {
  const run = { call: shell, input: { command: "sh test.sh && git status --short" } }
  const steps = [
    {
      calls: [
        { name: "find_pattern", input: { path: "total.sh", pattern: "echo .*-" } },
        { name: "read_file", input: { path: "notes.md" } },
      ],
    },
    { call: "tool_load", input: { name: "write_diff" } },
    { call: "write_diff", input: { path: "total.sh", old_text: "$1 - $2", new_text: "$1 + $2" } },
    { call: "write_file", input: { path: "notes.md", content: "# Notes\n\nSums add now.\n" } },
    { call: "apply_patch", input: { patch: PATCH } },
    ...[run, run],
    { say: DONE },
  ]
  // The screen shows the plan, too: there the last words stand with an escape in them.
  return plan(steps, "make sums add").replace(DONE, DONE.replace("d", "\\u0064"))
}

const MOCK: StageOptions = { config: { llm: CONFIG.llm } }

const CHANGED = [" M notes.md", " M test.sh", " M total.sh", "?? CHANGES"].join("\n")

/** What the plan has done, told by the calls themselves and by git. */
async function expectDone(chat: string): Promise<void> {
  const reply = await stage!.kernel.call("GET", `/v1/chats/${chat}/items`)
  const { items } = reply.json as { items: Item[] }
  const results = items.flatMap((item) => (item.kind === "tool_call" ? [item.result] : []))
  expect(results.filter((result) => result?.is_error !== false)).toEqual([])
  expect(results).toHaveLength(8)
  const outputs = results.map((result) => result!.output)
  expect(outputs[0]).toContain("echo $(($1 - $2))")
  expect(outputs[1]).toContain("Nothing yet.")
  expect(outputs[3]).toContain("echo $(($1 + $2))")
  for (const told of outputs.slice(6)) expect(told).toContain(`passed\n${CHANGED}`)
  expect(git("status", "--short").trimEnd()).toBe(CHANGED)
  expect(git("diff", "--stat")).toContain("3 files changed, 3 insertions(+), 3 deletions(-)")
  expect(readFileSync(join(repository, "CHANGES"), "utf8")).toBe("Sums add.\n")
}

/** `/undo` leaves the repository as it was. */
async function undo(client: Emulated): Promise<void> {
  client.types(`/undo${KEY.enter}`)
  await client.sees("removed CHANGES")
  expect(git("status", "--short")).toBe("")
  for (const [name, text] of Object.entries(FILES)) {
    expect(readFileSync(join(repository, name), "utf8")).toBe(text)
  }
}

async function newestChat(): Promise<string> {
  const { json } = await stage!.kernel.call("GET", "/v1/chats")
  return (json as { chats: { id: string }[] }).chats[0]!.id
}

function send(client: Emulated, words: string): void {
  client.pastes(words)
  client.types(KEY.enter)
}

test("on the person's own machine every question is asked once, and what was allowed is done", async () => {
  stage = await createStage(MOCK)
  const client = await stage.open({ args: ["--code", repository], rows: 40, columns: 100 })
  send(client, work("local_shell"))
  const questions: string[] = []
  for (const question of ["? write total.sh", "? run a command"]) {
    await client.sees(question)
    questions.push(...(client.screen().match(/^\s*\? .*$/gm) ?? []).map((line) => line.trim()))
    expect(git("status", "--short")).toBe(question.includes("write") ? "" : `${CHANGED}\n`)
    client.types(KEY.down)
    await client.sees("› allow for this session")
    client.types(KEY.enter)
    await client.loses(question)
  }
  // One more question would hold the plan up: it ends without another key.
  await client.sees(DONE)
  await client.loses("answering")
  expect(questions).toEqual(["? write total.sh", "? run a command"])
  expect(timesIn(conversation(client), DONE)).toBe(1)
  await expectDone(await newestChat())
  await undo(client)
})

/** A chat that works on the server's side, taken up in the terminal: nobody is asked there. */
async function serverSession(): Promise<void> {
  const body = { workdir: repository, workdir_on: "server" }
  const { json } = await stage!.kernel.call("POST", "/v1/chats", { body })
  const chat = String(json.id)
  const client = await stage!.open({ args: ["--chat", chat], rows: 40, columns: 100 })
  send(client, work("shell"))
  await client.sees(DONE)
  await client.loses("answering")
  await expectDone(chat)
  await undo(client)
}

test("on the machine of the kernel the same plan does the same", async () => {
  stage = await createStage(MOCK)
  await serverSession()
})

describe.skipIf(!canSsh)("over ssh", () => {
  test("TFILE-55: the same plan does the same: files and commands meet the same host", async () => {
    host = await startSshHost()
    // The kernel's ssh is the system's own, told where the keys of this host are.
    const ssh = join(host.folder, "ssh")
    const real = Bun.which("ssh")!
    writeFileSync(ssh, `#!/bin/sh\nexec ${real} ${host.sshArguments.join(" ")} "$@"\n`)
    chmodSync(ssh, 0o755)
    stage = await createStage({
      config: { llm: CONFIG.llm, shell: { remote: host.host } },
      env: { PATH: `${host.folder}:${process.env.PATH}` },
    })
    await serverSession()
    const reply = await stage.kernel.call("GET", `/v1/chats/${await newestChat()}/items`)
    const { items } = reply.json as { items: Item[] }
    const patched = items.find((item) => item.kind === "tool_call" && item.name === "apply_patch")
    expect(patched).toMatchObject({ result: { output: expect.stringContaining("workbench") } })
  })
})
