/** Working directory and project in whole turns: the tool, the prompt, and the client's side over HTTP. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { scriptedClient } from "../api/scripted-client.ts"
import { type TestApi, testApi } from "../api/support.ts"
import { plan } from "../support/kernel.ts"

let api: TestApi
let folder: string
beforeEach(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "eva-turn-project-")))
  mkdirSync(join(folder, "sub"))
  writeFileSync(join(folder, "flake.nix"), "")
  writeFileSync(join(folder, "AGENTS.md"), "Use tabs.")
  writeFileSync(join(folder, "sub/AGENTS.md"), "Use spaces.")
  api = await testApi()
})
afterEach(async () => {
  await api.dispose()
  rmSync(folder, { recursive: true, force: true })
})

const HERE = { trusted: true }
const WITH_HANDS = { trusted: true, client_ops: true, project_docs: true }
const systems = (): string[] =>
  api.kernel.requests.map(({ system }) => system.map(({ text }) => text).join("\n"))
const states = (): string[] =>
  api.kernel.requests.map(({ messages }) => JSON.stringify(messages.at(-1)))
const results = (events: readonly { type: string; output?: string; is_error?: boolean }[]) =>
  events.flatMap(({ type, output, is_error }) =>
    type === "tool_result" ? [{ output, is_error }] : [],
  )

describe("on the server", () => {
  test("TFILE-49 CACHE-03 PRM-012: the project is read once at the entry of a turn and stays the same to the byte within it", async () => {
    const chat = await api.newChat({ workdir: join(folder, "sub"), workdir_on: "server" })
    const change = { path: join(folder, "AGENTS.md"), content: "Use nothing.", on: "server" }
    await api.kernel.turn(chat, {
      text: plan([
        { call: "read_file", input: { path: change.path, on: "server" } },
        { call: "write_file", input: change },
        { say: "ok" },
      ]),
      ...HERE,
    })
    const [first, ...later] = systems()
    expect(first).toContain(`--- ${folder}/AGENTS.md\nUse tabs.`)
    expect(first!.indexOf("Use spaces.")).toBeGreaterThan(first!.indexOf("Use tabs."))
    expect(later).toEqual([first!, first!])
    await api.kernel.turn(chat, { text: "next", ...HERE })
    expect(systems().at(-1)).toContain("Use nothing.")
  })

  test("what reads like a secret in these files reaches no model", async () => {
    const key = `ghp_${"aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5".slice(0, 36)}`
    writeFileSync(join(folder, "AGENTS.md"), `Push with ${key}.`)
    const chat = await api.newChat({ workdir: folder, workdir_on: "server" })
    await api.kernel.turn(chat, { text: "hi", ...HERE })
    expect(systems()[0]).toContain("Push with [redacted: ")
    expect(JSON.stringify(api.kernel.requests)).not.toContain(key)
  })

  test("guests and turns where others read along get nothing of it", async () => {
    const chat = await api.newChat({ workdir: folder, workdir_on: "server" })
    await api.kernel.turn(chat, { text: "hi", guest: true })
    await api.kernel.turn(chat, { text: "hi", anchor: "telegram:1:2", trusted: false })
    for (const system of systems()) expect(system).not.toContain("[project]")
    for (const state of states()) expect(state).not.toContain(folder)
  })

  test("TFILE-37 TFILE-38 TFILE-39 TFILE-40: the agent moves with the tool, from its next call on; the route has the same rules", async () => {
    const chat = await api.newChat()
    const steps = [
      { call: "workdir", input: { path: folder, on: "server" } },
      { call: "read_file", input: { path: "AGENTS.md" } },
      { call: "workdir", input: { path: "sub" } },
      { call: "workdir", input: { path: null } },
      { say: "ok" },
    ]
    const events = await api.kernel.turn(chat, { text: plan(steps), ...HERE })
    const [set, read, relative, cleared] = results(events)
    expect(set).toEqual({ output: `${folder} (server)`, is_error: false })
    expect(read!.output).toContain("Use tabs.")
    expect(relative).toMatchObject({ is_error: true })
    expect(relative!.output).toContain("absolute path")
    expect(cleared!.output).toBe("no working directory any more")
    expect(states().filter((state) => state.includes(`[workdir] ${folder} (server)`))).toHaveLength(
      3,
    )
    const put = (body: object) => api.call(`PUT /v1/chats/${chat}/workdir`, body)
    expect((await put({ workdir: folder, workdir_on: "server" })).json.workdir).toBe(folder)
    expect((await api.call(`GET /v1/chats/${chat}`)).json).toMatchObject({
      ...{ workdir: folder, workdir_on: "server" },
    })
    expect((await put({ workdir: folder, workdir_on: "moon" })).status).toBe(400)
    expect((await put({ workdir: "sub" })).status).toBe(400)
    expect((await put({ workdir: "" })).json.workdir).toBeNull()
    expect((await put({ workdir: null })).json.workdir).toBeNull()
    expect((await api.call("POST /v1/chats", { workdir: folder })).json).toMatchObject({
      ...{ workdir: folder, workdir_on: "client" },
    })
  })

  test("S-8: without `on` it is the machine of the chat's directory, else the client's where one answers, else the server's", async () => {
    const setIn = async (body: object, more: object) => {
      const chat = await api.newChat(body)
      const step = { call: "workdir", input: { path: "/somewhere" } }
      const text = plan([step, { say: "ok" }])
      return results(await api.kernel.turn(chat, { text, ...more }))[0]!.output
    }
    const hands = { trusted: true, client_ops: true }
    expect(await setIn({}, HERE)).toBe("/somewhere (server)")
    expect(await setIn({}, hands)).toBe("/somewhere (client)")
    expect(await setIn({ workdir: "/srv", workdir_on: "server" }, hands)).toBe(
      "/somewhere (server)",
    )
    expect(await setIn({ workdir: "/home/ada" }, hands)).toBe("/somewhere (client)")
  })

  test("without a client nobody is sent to its machine", async () => {
    const chat = await api.newChat()
    const step = { call: "workdir", input: { path: folder, on: "client" } }
    const events = await api.kernel.turn(chat, { text: plan([step, { say: "ok" }]), ...HERE })
    expect(results(events)[0]).toMatchObject({ is_error: true })
    expect(results(events)[0]!.output).toContain("on: server")
  })
})

describe("on the client", () => {
  const file = (text: string) => ({
    output: JSON.stringify({ total: text.length, data: Buffer.from(text).toString("base64") }),
  })
  const answer = (op: { action: string; path: string }) =>
    op.action === "list_up"
      ? {
          output: JSON.stringify({
            dirs: [{ dir: "/home/me/code", found: [".git", "AGENTS.md"] }],
          }),
        }
      : file("Be kind.")

  test("TFILE-46 TFILE-48 PRM-016: it is asked before the first request, without the model and without a question, if it said that it answers", async () => {
    const chat = await api.newChat({ workdir: "/home/me/code" })
    const client = await scriptedClient({ api, chat, answer })
    await api.kernel.turn(chat, { text: "hi", ...WITH_HANDS })
    expect(systems()[0]).toContain("--- /home/me/code/AGENTS.md\nBe kind.")
    expect(client.asked.map(({ action }) => action)).toEqual(["list_up", "read_bytes"])
    expect(client.asked[0].names).toEqual(expect.arrayContaining(["AGENTS.md", ".eva"]))
    await api.kernel.turn(chat, { text: "hi", trusted: true, client_ops: true })
    expect(systems()[1]).not.toContain("[project]")
    expect(client.asked).toHaveLength(2)
  })

  test("a client that fails costs the turn its project and nothing else", async () => {
    const chat = await api.newChat({ workdir: "/home/me/code" })
    await scriptedClient({ api, chat, answer: () => ({ error: "unknown op action" }) })
    const events = await api.kernel.turn(chat, { text: "hi", ...WITH_HANDS })
    expect(events.at(-1)).toMatchObject({ type: "done" })
    expect(systems()[0]).not.toContain("[project]")
  })
})
