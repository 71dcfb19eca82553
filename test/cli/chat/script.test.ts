/** `eva-kernel chat` without a terminal, as the real program against real kernels. */
import { afterEach, describe, expect, test } from "bun:test"
import { createKernelClient } from "../../../src/cli/chat/kernel-client.ts"
import type { Output } from "../../../src/cli/chat/output.ts"
import { runScript } from "../../../src/cli/chat/run-script.ts"
import { commandSpec } from "../../../src/cli/commands.ts"
import { systemClock } from "../../../src/lib/clock.ts"
import { parseJson } from "../../../src/lib/json.ts"
import { createGate } from "../../../src/llm/mock-gate.ts"
import { EFFORT_LEVELS } from "../../../src/schema/effort.ts"
import { plan, type TestKernelOptions } from "../../support/kernel.ts"
import {
  cleanUp,
  eventually,
  freePort,
  linesOf,
  passTexts,
  type RunOptions,
  runChat,
  served,
  spawnChat,
  spawnKernel,
  wireTo,
} from "./support.ts"

const cleaner = cleanUp()
afterEach(cleaner.run)

async function start(options: TestKernelOptions = {}) {
  const folder = cleaner.folder()
  const home = cleaner.add(await served({ ...options, folder }), ({ stop }) => stop())
  const at = (args: string[], rest: Partial<RunOptions> = {}): RunOptions => ({
    folder,
    args: ["--url", home.url, ...args],
    ...rest,
  })
  const chat = (args: string[], rest: Partial<RunOptions> = {}) => runChat(at(args, rest))
  const messagesOf = (chatId: string) =>
    home.kernel.api.messages.page(chatId, { limit: 100, before: undefined })
  return { ...home, at, chat, messagesOf }
}

const chatIdIn = (err: string): string => /^· chat (\S+)$/m.exec(err)![1]!

const STEPS = plan([
  { think: "hm", say: "let me see", call: "person_list", input: { a: 1 } },
  { say: "nobody" },
])

describe("one thing said", () => {
  test("the answer goes to stdout, the chat and its steps to stderr", async () => {
    const { chat } = await start()
    const { code, out, err } = await chat(["-p", STEPS])
    expect({ code, out }).toEqual({ code: 0, out: "let me see\nnobody\n" })
    expect(err).toMatch(/^· chat \S+\n· person_list \{"a":1\}\n(· person_list failed: .*\n)?$/)
  })

  test("--quiet prints the final answer and nothing else", async () => {
    const { chat } = await start()
    expect(await chat(["-qp", STEPS])).toEqual({ code: 0, out: "nobody\n", err: "" })
  })

  test("--json prints every event as it came, one a line", async () => {
    const { chat } = await start()
    const { code, out, err } = await chat(["--json", "-p", "hello"])
    expect({ code, err }).toEqual({ code: 0, err: "" })
    const events = out
      .trimEnd()
      .split("\n")
      .map((line) => parseJson(line) as { type: string; seq: number })
    const types = events.map(({ type }) => type)
    expect(types.slice(0, 2)).toEqual(["accepted", "turn_started"])
    expect(types.at(-1)).toBe("done")
    expect(types).toContain("text_delta")
    expect(events.every(({ seq }) => Number.isInteger(seq))).toBe(true)
  })

  test("text that is piped in is said, behind the one of -p when both are there", async () => {
    const { chat, messagesOf } = await start()
    expect(await chat(["-q"], { input: "piped\n" })).toMatchObject({ code: 0, out: "piped\n" })
    const { err } = await chat(["-p", "Sum up:"], { input: "line 1\nline 2\n" })
    const [said] = messagesOf(chatIdIn(err))
    expect(said!.blocks).toEqual([{ type: "text", text: "Sum up:\n\nline 1\nline 2" }])
  })

  test("--chat goes on in a chat; a model and an effort hold for what is said", async () => {
    const { chat, kernel, messagesOf } = await start()
    const chatId = kernel.newChat()
    const args = ["--chat", chatId, "--model", "other", "--effort", "high", "-p", "hello"]
    expect(await chat(args)).toMatchObject({ code: 0, out: "hello\n" })
    expect(kernel.requests.at(0)).toMatchObject({ model: "other", effort: "high" })
    expect(messagesOf(chatId)).toHaveLength(2)
    expect(kernel.api.chats.get(chatId)).toMatchObject({ model: null, effort: null })
  })

  test("the efforts of the command line are those of the kernel", () => {
    const effort = commandSpec("chat").options.find(({ name }) => name === "effort")
    expect(effort?.choices).toEqual(EFFORT_LEVELS)
  })
})

describe("exit codes", () => {
  test("1: the turn failed; what it said stays, and why is one line", async () => {
    const { chat } = await start()
    const { code, out, err } = await chat(["-p", plan([{ say: "so far", fail: "fatal" }])])
    expect({ code, out }).toEqual({ code: 1, out: "so far\n" })
    expect(err.split("\n").slice(1)).toEqual([expect.stringMatching(/^eva-kernel: \S/), ""])
  })

  test("2: nothing could be said; one line says what would be right, and no chat is left behind", async () => {
    const { chat, kernel } = await start({ config: { server: { token: "right" } } })
    const token = { environment: { EVA_TOKEN: "right" } }
    const refusals: [string[], Partial<RunOptions>, RegExp][] = [
      [["-p", "x"], {}, /wants a token; give one with --token or EVA_TOKEN$/],
      [["-p", "x", "--token", "wrong"], {}, /does not accept this token; check/],
      [["-p", "x", "--chat", "nowhere"], token, /^eva-kernel: no chat with id nowhere$/],
      [["-p", "x", "--model", "othre"], token, /other/],
      [["-p", "x", "--url", "http://127.0.0.1:1"], token, /:1: nothing listens there$/],
      [["-p", "x", "--url", "nonsense"], token, /"nonsense" is no address such as/],
      [["-p", "x", "--json", "--quiet"], token, /--json and --quiet .* give one$/],
      [["-p", "x", "--new", "--last"], token, /--new and --last .* give one$/],
      [["-p", "x", "--last"], token, /no chat was open on this machine yet/],
      [[], token, /there is nothing to say/],
      [["-p", " "], { ...token, input: "\n\n" }, /there is nothing to say/],
      [["--effort", "max"], token, /--effort is one of off, low, mid, high; it was given max$/],
    ]
    const ran = await Promise.all(refusals.map(([args, rest]) => chat(args, rest)))
    for (const [index, { code, out, err }] of ran.entries()) {
      expect({ code, out }).toEqual({ code: 2, out: "" })
      expect(err.trimEnd()).toMatch(refusals[index]![2])
      expect(err.trimEnd().split("\n")).toHaveLength(1)
    }
    expect(kernel.api.chats.list({})).toEqual([])
  })

  test("130: Ctrl-C ends the turn on the kernel, and what was said is stored", async () => {
    const gate = createGate()
    const { at, kernel, messagesOf } = await start({ mock: { gate } })
    const child = spawnChat(at(["-p", "one two three"]))
    await passTexts(gate, 1)
    const out = child.stdout.getReader()
    expect(new TextDecoder().decode((await out.read()).value)).toBe("one ")
    child.kill("SIGINT")
    expect(await child.exited).toBe(130)
    const chatId = chatIdIn(await new Response(child.stderr).text())
    expect(messagesOf(chatId).map(({ blocks }) => blocks[0])).toEqual([
      { type: "text", text: "one two three" },
      { type: "text", text: "one " },
    ])
    expect(kernel.api.turns.generations()).toEqual([])
  })

  test("130: a second Ctrl-C leaves at once, whatever the kernel does", async () => {
    const gate = createGate()
    const home = await start({ mock: { gate } })
    const wire = cleaner.add(wireTo(home.port), ({ close }) => close())
    const child = spawnChat(home.at(["-p", "one two", "--url", wire.url]))
    await passTexts(gate, 1)
    await child.stdout.getReader().read()
    const cancelSent = wire.freeze()
    child.kill("SIGINT")
    await cancelSent
    expect(child.exitCode).toBe(null)
    child.kill("SIGINT")
    expect(await child.exited).toBe(130)
    gate.open()
  })
})

describe("what may go wrong meanwhile", () => {
  test("kill -9 of the kernel amid the turn: the answer goes on, no word twice", async () => {
    const folder = cleaner.folder()
    const port = freePort()
    const kernel = await spawnKernel(folder, port)
    cleaner.add(kernel, (child) => child.kill("SIGKILL"))
    const text = plan([
      { say: "let me see", call: "person_list", input: {} },
      { say: "five words one by one", delay_ms: 100 },
    ])
    const child = spawnChat({ folder, args: ["--url", `http://127.0.0.1:${port}`, "-p", text] })
    const reader = child.stdout.getReader()
    let out = ""
    const decoder = new TextDecoder()
    const read = async (enough: () => boolean) => {
      while (!enough()) {
        const { done, value } = await reader.read()
        if (done) return
        out += decoder.decode(value, { stream: true })
      }
    }
    await read(() => out.includes("five words "))
    kernel.kill("SIGKILL")
    await kernel.exited
    cleaner.add(await spawnKernel(folder, port), (again) => again.kill("SIGKILL"))
    await read(() => false)
    expect(await child.exited).toBe(0)
    expect(out).toBe("let me see\nfive words one by one\n")
  })

  test("a dead wire amid the turn: the script comes back for the rest", async () => {
    const folder = cleaner.folder()
    const gate = createGate()
    const home = cleaner.add(await served({ folder, mock: { gate } }), ({ stop }) => stop())
    const wire = cleaner.add(wireTo(home.port), ({ close }) => close())
    const written: string[] = []
    const out: Output = { write: (text) => void written.push(text), flush: async () => {} }
    const address = () => ({ url: wire.url })
    const running = runScript({
      ...{ clock: systemClock, text: "one two three", key: "k", form: "plain", isTerminal: false },
      ...{ out, err: { ...out, write: () => {} }, silenceMs: 300, retryMs: [20] },
      client: createKernelClient({ address, timeoutMs: 300 }),
      cancel: new AbortController().signal,
      leave: new AbortController().signal,
    })
    await passTexts(gate, 1)
    await eventually(() => written.join("") === "one ")
    void wire.freeze()
    gate.open()
    await Bun.sleep(700)
    wire.thaw()
    expect(await running).toBe(0)
    expect(written.join("")).toBe("one two three\n")
  })

  test("the reader goes: the turn ends without it", async () => {
    const gate = createGate()
    const { at, kernel } = await start({ mock: { gate } })
    const child = spawnChat(at(["-p", "one two three four"]))
    await passTexts(gate, 1)
    const reader = child.stdout.getReader()
    await reader.read()
    await reader.cancel()
    gate.open()
    await child.exited
    await eventually(() => kernel.api.turns.generations().length === 0)
    const [chat] = kernel.api.chats.list({})
    expect(linesOf(kernel.api.items.itemPage(chat!.id, {}))).toEqual([
      ...["> one two three four", "one two three four"],
    ])
  })

  test("a proxy of the environment does not get what stays on this machine", async () => {
    const { chat } = await start()
    const environment = { HTTP_PROXY: "http://127.0.0.1:1", http_proxy: "http://127.0.0.1:1" }
    expect(await chat(["-qp", "hello"], { environment })).toEqual({
      code: 0,
      out: "hello\n",
      err: "",
    })
  })

  test("escape sequences of the model reach a pipe as they are", async () => {
    const { chat } = await start()
    const { out } = await chat(["-qp", plan([{ say: "\u001b[31mred" }])])
    expect(out).toBe("\u001b[31mred\n")
  })
})
