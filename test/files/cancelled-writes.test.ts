/** Turns that are cancelled at random moments while files are written: nothing is torn, open or left behind. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test"
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Message } from "../../src/schema/message.ts"
import { plan, type TestKernel, testKernel, untilEnd } from "../support/kernel.ts"
import { fileRig } from "./file-rig.ts"

// Nothing here waits for time; a slow disk may.
setDefaultTimeout(120_000)

const NAMES = ["a.txt", "b.txt", "c.txt", "d.txt"]
const VERSIONS = [0, 1, 2, 3]
/** Of some length, so that a part of it is told from the whole. */
const textOf = (name: string, version: number): string =>
  `version ${version} of ${name}\n${`${name} ${version} ${"x".repeat(90)}\n`.repeat(12)}end ${version}\n`

let kernel: TestKernel
let folder: string
beforeEach(async () => {
  kernel = await testKernel()
  folder = mkdtempSync(join(tmpdir(), "eva-cancel-"))
})
afterEach(async () => {
  await kernel.dispose()
  rmSync(folder, { recursive: true, force: true })
})

/** Mulberry32: the same seed gives the same moments. */
function random(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

const writesOf = (version: number) => ({
  call: "write_file",
  input: { files: NAMES.map((path) => ({ path, content: textOf(path, version) })) },
})

/** Each tool of writing, beside a command that would never end. */
const STEPS = [
  { call: "read_file", input: { path: NAMES } },
  writesOf(1),
  {
    call: "apply_patch",
    input: {
      patch: [
        "*** Begin Patch",
        ...NAMES.flatMap((name) => [`*** Delete File: ${name}`]),
        "*** End Patch",
      ].join("\n"),
    },
  },
  writesOf(2),
  {
    calls: [
      ...NAMES.map((path) => ({
        name: "write_diff",
        input: { path, old_text: textOf(path, 2), new_text: textOf(path, 3) },
      })),
      { name: "shell", input: { command: "sleep 1000" } },
    ],
  },
  { say: "done" },
]

/** Before the command. */
const RESULTS = 4 + NAMES.length

const callsAndResults = (messages: readonly Message[]) => {
  const blocks = messages.flatMap((message) => message.blocks)
  return {
    calls: blocks.flatMap((block) => (block.type === "tool_use" ? [block.id] : [])).sort(),
    results: blocks.flatMap((block) => (block.type === "tool_result" ? [block.id] : [])).sort(),
  }
}

/** Whole in some version, or gone while a patch had removed it. */
function expectWholeFiles(at: string): void {
  for (const name of readdirSync(at)) {
    expect(NAMES).toContain(name)
    const text = readFileSync(join(at, name), "utf8")
    const version = Number(/^version (\d) /.exec(text)?.[1])
    expect(VERSIONS).toContain(version)
    expect(text === textOf(name, version)).toBe(true)
  }
}

/** Of this process, by the kernel of the system; threads count as one. */
const childrenHere = (): string[] =>
  readdirSync("/proc/self/task").flatMap((thread) =>
    readFileSync(`/proc/self/task/${thread}/children`, "utf8").split(" ").filter(Boolean),
  )

const hasProc = process.platform === "linux"

test.skipIf(!hasProc)(
  "TURN-015: a cancel at any moment leaves every file whole, every call with its result and no process",
  async () => {
    const before = childrenHere()
    const reached = new Set<number>()
    for (let seed = 1; seed <= 40; seed++) {
      for (const name of NAMES) writeFileSync(join(folder, name), textOf(name, 0))
      const pick = random(seed)
      const chat = kernel.api.chats.create({ workdir: folder, workdir_on: "server" }).id
      const [events, ticks] = [1 + pick(26), pick(12)]
      await cancelAfter(chat, events, ticks)
      const messages = kernel.api.messages.page(chat, { limit: 100 })
      const { calls, results } = callsAndResults(messages)
      expect(results).toEqual(calls)
      reached.add(calls.length)
      expectWholeFiles(folder)
      expect(childrenHere()).toEqual(before)
    }
    // The moments were spread: some turns had written nothing, some nearly all.
    expect(Math.min(...reached)).toBeLessThan(2)
    expect(Math.max(...reached)).toBeGreaterThan(6)
  },
)

/** Cancels so many events, and then so many turns of the event loop, behind the send. */
async function cancelAfter(chat: string, events: number, ticks: number): Promise<void> {
  const { turns, bus } = kernel.api
  const { turnId } = await turns.send(chat, { text: plan(STEPS), trusted: true })
  const ended = untilEnd(kernel, chat, turnId)
  let seen = 0
  const { promise: moment, resolve } = Promise.withResolvers<void>()
  let results = 0
  const { unsubscribe } = bus.subscribe({ chats: [chat] }, ({ type }) => {
    if (type === "tool_result") results++
    // Behind the last result nothing more comes, for the command runs on.
    if (++seen === events || results === RESULTS) resolve()
  })
  await Promise.race([moment, ended])
  for (let tick = 0; tick < ticks; tick++) await new Promise(setImmediate)
  await turns.cancelChat(chat)
  await ended
  unsubscribe()
}

test.skipIf(!hasProc)(
  "a cancel while scripts write on a host leaves every file whole, the account true and no process",
  async () => {
    const rig = fileRig()
    const before = childrenHere()
    const landed = new Set<number>()
    try {
      for (let seed = 1; seed <= 6; seed++) {
        const pick = random(seed)
        for (const name of NAMES) rig.put(name, textOf(name, 0))
        await rig.call("read_file", { path: NAMES }, { machine: "host" })
        const cancel = new AbortController()
        const files = NAMES.map((path) => ({ path, content: textOf(path, 1) }))
        let [begun, stopAt] = [0, 1 + pick(NAMES.length + 1)]
        const { output } = await rig.call(
          "write_file",
          { files },
          {
            machine: "host",
            signal: cancel.signal,
            onKept: () => {
              if (++begun === stopAt) setTimeout(() => cancel.abort(), pick(30))
            },
          },
        )
        expectWholeFiles(rig.folder)
        for (const name of NAMES) {
          if (output.includes(`M ${name}`)) expect(rig.text(name)).toBe(textOf(name, 1))
          if (/Not tried: (.*)/.exec(output)?.[1]?.includes(name)) {
            expect(rig.text(name)).toBe(textOf(name, 0))
          }
        }
        landed.add(output.split("\nM ").length - 1)
        expect(childrenHere()).toEqual(before)
      }
      expect(landed.size).toBeGreaterThan(1)
    } finally {
      rig.close()
    }
  },
)
