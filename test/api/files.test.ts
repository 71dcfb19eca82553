/** A turn that patches a real repository on the server, and the undo of it, over HTTP. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { plan } from "../support/kernel.ts"
import { type TestApi, testApi } from "./support.ts"

// Nothing here waits for time; a slow disk may.
setDefaultTimeout(60_000)

let repo: string
let api: TestApi
let chat: string

beforeEach(async () => {
  repo = makeRepository()
  api = await testApi()
  chat = await api.newChat({ workdir: repo, workdir_on: "server" })
})
afterEach(async () => {
  await api.dispose()
  rmSync(repo, { recursive: true, force: true })
})

const git = (dir: string, ...args: string[]): string => {
  const { exitCode, stdout, stderr } = Bun.spawnSync(["git", "-C", dir, ...args], {
    env: { PATH: process.env.PATH, HOME: dir, GIT_CONFIG_NOSYSTEM: "1" },
  })
  if (exitCode !== 0) throw new Error(stderr.toString())
  return stdout.toString()
}

function makeRepository(): string {
  const dir = mkdtempSync(join(tmpdir(), "eva-repo-"))
  git(dir, "init", "--quiet")
  writeFileSync(join(dir, "greet.py"), 'def greet(name):\n    return "Hello " + name\n')
  writeFileSync(join(dir, "old.txt"), "to be moved\n")
  git(dir, "add", ".")
  const who = ["-c", "user.name=Test", "-c", "user.email=test@example.org"]
  git(dir, ...who, "commit", "--quiet", "-m", "first")
  return dir
}

const PATCH = [
  "*** Begin Patch",
  "*** Update File: greet.py",
  "@@ def greet(name):",
  '-    return "Hello " + name',
  '+    return f"Hello, {name}!"',
  "*** Add File: tests/test_greet.py",
  "+assert True",
  "*** Update File: old.txt",
  "*** Move to: new.txt",
  "@@",
  " to be moved",
  "*** End Patch",
].join("\n")

/** The results of the calls of a turn of the master's. */
async function results(steps: object[]): Promise<{ output: string; is_error?: boolean }[]> {
  const { kernel } = api
  const events = await kernel.turn(chat, { text: plan([...steps, { say: "done" }]), trusted: true })
  return events.flatMap((event) => (event.type === "tool_result" ? [event] : []))
}

const applyPatch = (patch: string) => ({ call: "apply_patch", input: { patch } })
const changes = () => git(repo, "status", "--porcelain", "--untracked-files=all").split("\n")

describe("a turn that patches a repository", () => {
  test("TFILE-8: changes, adds and moves in one call; the answer names the machine", async () => {
    const [result] = await results([applyPatch(PATCH)])
    expect(result!.output).toBe(
      "Done on server:\nM greet.py\nA tests/test_greet.py\nR old.txt → new.txt",
    )
    expect(changes()).toEqual([
      ...[" M greet.py", " D old.txt", "?? new.txt", "?? tests/test_greet.py", ""],
    ])
    expect(readFileSync(join(repo, "greet.py"), "utf8")).toContain('f"Hello, {name}!"')
  })

  test("TFILE-10 TFILE-12: with a hunk that does not fit the model reads why and nothing changed", async () => {
    const [result] = await results([applyPatch(PATCH.replace(" to be moved", " elsewhere"))])
    expect(result!.is_error).toBe(true)
    expect(result!.output).toContain(
      `apply_patch verification failed: Failed to find expected lines in ${repo}/old.txt:\nelsewhere`,
    )
    expect(changes()).toEqual([""])
  })

  test("is undone as a whole, and the undo is undone", async () => {
    await results([applyPatch(PATCH)])
    const after = git(repo, "diff")
    const undone = await api.call(`POST /v1/chats/${chat}/files/restore`, {})
    expect(undone.status).toBe(200)
    const paths = (list: { path: string }[]) => list.map(({ path }) => path.slice(repo.length + 1))
    expect(paths(undone.json.restored)).toEqual(["greet.py", "old.txt"])
    expect(paths(undone.json.removed)).toEqual(["tests/test_greet.py", "new.txt"])
    expect(changes()).toEqual([""])

    const turn_id = undone.json.restore_id
    await api.call(`POST /v1/chats/${chat}/files/restore`, { turn_id })
    expect(git(repo, "diff")).toBe(after)
  })

  test("works beside the shell of the same machine; what the shell made stays when it is undone", async () => {
    const [before, patched, after] = await results([
      { call: "shell", input: { command: "git grep -n greet" } },
      applyPatch(PATCH),
      {
        call: "shell",
        input: { command: "git mv old.txt x 2>&1; git status --short; echo hi > made" },
      },
    ])
    expect(before!.output).toContain("greet.py:1:def greet(name):")
    expect(patched!.output).toStartWith("Done on server:")
    expect(after!.output).toContain(" M greet.py")
    expect(after!.output).toContain("?? new.txt")
    const { json } = await api.call(`POST /v1/chats/${chat}/files/restore`, {})
    expect(json.conflicts).toEqual([])
    expect(changes()).toEqual(["?? made", ""])
  })

  test("is listed with what it wrote", async () => {
    await results([applyPatch(PATCH)])
    const { json } = await api.call(`GET /v1/chats/${chat}/files`)
    const [writer] = json.writers
    expect([json.writers.length, writer.kind, writer.restored_at]).toEqual([1, "turn", null])
    const seen = writer.files.map(({ path, change }: { path: string; change: string }) => [
      path.slice(repo.length + 1),
      change,
    ])
    expect(seen).toEqual([
      ["greet.py", "changed"],
      ["tests/test_greet.py", "made"],
      ["new.txt", "made"],
      ["old.txt", "removed"],
    ])
  })

  test("leaves the work of others alone when it is undone", async () => {
    await results([applyPatch(PATCH)])
    writeFileSync(join(repo, "greet.py"), "my own work\n")
    const { json } = await api.call(`POST /v1/chats/${chat}/files/restore`, {})
    expect(json.conflicts).toEqual([
      {
        ...{ machine: "server", path: join(repo, "greet.py"), reason: "changed_since" },
        message: "The file was changed since; force overwrites it.",
      },
    ])
    expect(changes()).toEqual([" M greet.py", ""])
    const forced = await api.call(`POST /v1/chats/${chat}/files/restore`, {
      ...{ turn_id: json.turn_id, force: true },
    })
    expect(forced.json.restored.length).toBe(1)
    expect(changes()).toEqual([""])
  })
})

test("bytes that a turn wrote are taken back, and a file that it made goes", async () => {
  const before = Buffer.from([0, 1, 2, 0xff, 0xfe])
  writeFileSync(join(repo, "a.bin"), before)
  const writes = [
    { path: "a.bin", offset: 1, data: "aa bb" },
    { path: "a.bin", offset: 0, data: "cc", truncate: true },
    { path: "new.bin", offset: 0, data: "80" },
  ]
  const [result] = await results([{ call: "write_hex", input: { writes } }])
  expect(result!.output.split("\n").length).toBe(3)
  expect(readFileSync(join(repo, "a.bin"))).toEqual(Buffer.from([0xcc]))
  const { json } = await api.call(`POST /v1/chats/${chat}/files/restore`, {})
  expect([json.restored.length, json.removed.length, json.conflicts]).toEqual([1, 1, []])
  expect(readFileSync(join(repo, "a.bin"))).toEqual(before)
  expect(existsSync(join(repo, "new.bin"))).toBe(false)
})

test("without a write there is nothing to undo", async () => {
  const { status, json } = await api.call(`POST /v1/chats/${chat}/files/restore`, {})
  expect([status, json.error]).toEqual([
    404,
    "no turn of this chat wrote a file whose former content is still kept",
  ])
})

test("a deleted chat keeps nothing", async () => {
  await results([applyPatch(PATCH)])
  await api.call(`DELETE /v1/chats/${chat}`)
  await api.call(`POST /v1/chats/${chat}/restore`)
  expect((await api.call(`GET /v1/chats/${chat}/files`)).json.writers).toEqual([])
})

describe("write_file and write_diff", () => {
  const FILE = "greet.py"
  const read = { call: "read_file", input: { path: FILE } }
  const overwrite = (content: string) => ({ call: "write_file", input: { path: FILE, content } })
  const now = () => readFileSync(join(repo, FILE), "utf8")

  test("what was read in one turn may be replaced in a later one, unless somebody changed it", async () => {
    await results([read])
    const [replaced] = await results([overwrite("print(1)\n")])
    expect(replaced!.output).toBe("Done on server:\nM greet.py (1 line)")
    writeFileSync(join(repo, FILE), "print(2)\n")
    const [refused] = await results([overwrite("print(3)\n")])
    expect(refused!.is_error).toBe(true)
    expect(refused!.output).toContain("it was changed since it was read; read it again")
    expect(now()).toBe("print(2)\n")
  })

  test("what one chat read another does not know", async () => {
    await results([read])
    chat = await api.newChat({ workdir: repo, workdir_on: "server" })
    const [refused] = await results([overwrite("print(1)\n")])
    expect(refused!.output).toContain("it is there already and was not read in this chat")
  })

  test("an undo takes both back, and then the file has to be read again", async () => {
    const former = now()
    const [, , diff] = await results([
      read,
      overwrite("one\ntwo\n"),
      { call: "write_diff", input: { path: FILE, old_text: "two", new_text: "2" } },
      { call: "write_file", input: { path: "new/made.txt", content: "x" } },
    ])
    expect(diff!.output).toBe(`[lines 1-2 of 2] server:${join(repo, FILE)}\n1\tone\n2\t2`)
    const undone = await api.call(`POST /v1/chats/${chat}/files/restore`, {})
    expect([undone.json.restored.length, undone.json.removed.length]).toEqual([1, 1])
    expect([now(), changes()]).toEqual([former, [""]])
    const [refused] = await results([overwrite("x\n")])
    expect(refused!.output).toContain("it was changed since it was read")
  })

  test("a patch that would replace a file that nobody read changes nothing", async () => {
    const [refused] = await results([
      applyPatch(
        "*** Begin Patch\n*** Add File: a.txt\n+a\n*** Add File: greet.py\n+x\n*** End Patch",
      ),
    ])
    expect(refused!.is_error).toBe(true)
    expect(refused!.output).toContain(
      `nothing was written: ${join(repo, FILE)}: it is there already and was not read in this chat; read it first`,
    )
    expect(changes()).toEqual([""])
    const move =
      "*** Begin Patch\n*** Update File: old.txt\n*** Move to: greet.py\n@@\n to be moved\n*** End Patch"
    expect((await results([applyPatch(move)]))[0]!.output).toContain("was not read in this chat")
    const [, moved] = await results([read, applyPatch(move)])
    expect(moved!.output).toContain("R old.txt → greet.py (replaced the file that was there)")
  })
})
