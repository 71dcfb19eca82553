/**
 * Turns that run commands and write files, each cancelled at a moment of its own, through the front door of a
 * whole kernel; and what is found afterwards that should not be there.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { plan, type SeenEvent, type TestKernel, testKernel } from "./kernel.ts"
import { processLives } from "./process-lives.ts"

export interface CancelReport {
  /** Processes that commands began, and those that lived on when their turns were over and the wait had passed. */
  processes: number
  orphans: number[]
  /** Calls without a result, on the wire or in what is stored. */
  unpaired: string[]
  /** Files that hold neither what was there nor what was to be written, and drafts that were left. */
  torn: string[]
  /** Turns that ended in another way than cancelled. */
  uncancelled: string[]
  /** How often a write had landed before its turn was cancelled, and how often not. */
  landed: number
  prevented: number
}

/** Chats that run beside each other. */
const ABREAST = 4
/** Large enough that writing it takes a while. */
const LINES = 40_000
/** A process that was killed may take a moment to be gone. */
const GONE_WITHIN_MS = 10_000

/** Park and Miller's generator: the same rounds in every run. */
function randomOf(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state * 48_271) % 2_147_483_647
    return state % below
  }
}

export async function cancelAtRandom(rounds: number): Promise<CancelReport> {
  const kernel = await testKernel()
  try {
    const report: CancelReport = {
      ...{ processes: 0, orphans: [], unpaired: [], torn: [], uncancelled: [] },
      ...{ landed: 0, prevented: 0 },
    }
    const pids = join(kernel.folder, "pids")
    const lane = async (seed: number): Promise<void> => {
      const random = randomOf(seed)
      const folder = join(kernel.folder, `lane-${seed}`)
      mkdirSync(folder)
      writeFileSync(join(folder, "old.txt"), version("a"))
      for (let n = 0; n < rounds / ABREAST; n++) {
        await takeRound(kernel, { folder, pids, random, report })
      }
    }
    await Promise.all(Array.from({ length: ABREAST }, (_, n) => lane(n + 1)))
    await lookForOrphans(pids, report)
    return report
  } finally {
    await kernel.dispose()
  }
}

/** A file that is whole only from its first line to its last. */
const version = (name: string): string =>
  `begin ${name}\n${"a line of the file, as good as any\n".repeat(LINES)}end ${name}\n`

interface Round {
  folder: string
  pids: string
  random: (below: number) => number
  report: CancelReport
}

async function takeRound(kernel: TestKernel, at: Round): Promise<void> {
  const { folder, random, report } = at
  const { bus, turns, chats } = kernel.api
  const old = join(folder, "old.txt")
  const before = readFileSync(old, "utf8").startsWith("begin a\n") ? "a" : "b"
  const after = before === "a" ? "b" : "a"
  const chat = chats.create({ workdir: folder, workdir_on: "server" }).id
  let left = random(18)
  const { unsubscribe } = bus.subscribe({ chats: [chat] }, () => {
    // In the midst of an event, after it, or when a command or a write is likely to run.
    if (left-- === 0) setTimeout(() => void turns.cancelChat(chat), random(120))
  })
  const events = await kernel.turn(chat, plan(stepsOf(at, { before, after })))
  unsubscribe()

  const end = events.at(-1)
  if (end?.type !== "done" || end.reason !== "cancelled") {
    report.uncancelled.push(JSON.stringify(end))
  }
  report.unpaired.push(...unpairedEvents(events), ...unpairedMessages(kernel, chat))
  const now = readFileSync(old, "utf8")
  if (now === version(after)) report.landed++
  else if (now === version(before)) report.prevented++
  else report.torn.push(`${old}: ${now.length} characters, from ${now.slice(0, 8)}`)
  for (const name of readdirSync(folder)) {
    const text = readFileSync(join(folder, name), "utf8")
    if (name === "new.txt" && text === NEW) Bun.spawnSync(["rm", join(folder, name)])
    else if (name !== "old.txt") report.torn.push(`${name}: ${text.length} characters`)
  }
}

const NEW = "one of many lines\n".repeat(2000)

/** In another order each time, so that a cancel meets each of them at each place. */
function stepsOf({ pids, random }: Round, { before, after }: { before: string; after: string }) {
  const leave = `echo $$ >> ${pids}; sleep 300 & echo $! >> ${pids}; echo begun`
  const hunk = (word: string) => `@@\n-${word} ${before}\n+${word} ${after}\n`
  const patch = `*** Begin Patch\n*** Update File: old.txt\n${hunk("begin")}${hunk("end")}*** End Patch`
  const steps: object[] = [
    { call: "shell", input: { command: "echo quick" } },
    { call: "apply_patch", input: { patch } },
    { call: "write_file", input: { path: "new.txt", content: NEW } },
    { call: "find_pattern", input: { path: "old.txt", pattern: "^(begin|end)" } },
    { call: "shell", input: { command: `${leave}; wait`, yield_ms: 250 } },
  ]
  const shift = random(steps.length)
  return [
    ...[...steps.slice(shift), ...steps.slice(0, shift)],
    // Nothing gets past this one but a cancel.
    { call: "shell", input: { command: ["echo one", `${leave}; wait`] } },
    { say: "never" },
  ]
}

function unpairedEvents(events: readonly SeenEvent[]): string[] {
  const answered = new Set(events.map((event) => event.type === "tool_result" && event.id))
  return events.flatMap((event) =>
    event.type === "tool_call" && !answered.has(event.id) ? [event.id] : [],
  )
}

/** What the next turn of the chat would be built from. */
function unpairedMessages(kernel: TestKernel, chat: string): string[] {
  const blocks = kernel.api.messages.forPrompt(chat).flatMap((message) => message.blocks)
  const answered = new Set(
    blocks.flatMap((block) => (block.type === "tool_result" ? [block.id] : [])),
  )
  return blocks.flatMap((block) =>
    block.type === "tool_use" && !answered.has(block.id) ? [`stored ${block.id}`] : [],
  )
}

async function lookForOrphans(pids: string, report: CancelReport): Promise<void> {
  const begun = existsSync(pids) ? readFileSync(pids, "utf8").split("\n").filter(Boolean) : []
  report.processes = begun.length
  const deadline = Date.now() + GONE_WITHIN_MS
  for (const pid of begun.map(Number)) {
    while ((await processLives(pid)) && Date.now() < deadline) await Bun.sleep(20)
    if (await processLives(pid)) report.orphans.push(pid)
  }
}
