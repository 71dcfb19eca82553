/**
 * Cancels at any moment of turns that run commands, through the front door: afterwards no process is left
 * and every call has its result. `EVA_CANCELS=1000` takes more of them.
 */
import { afterEach, expect, test } from "bun:test"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { SeenEvent } from "../support/kernel.ts"
import { plan, type TestKernel, testKernel } from "../support/kernel.ts"
import { processLives } from "../support/process-lives.ts"

const ROUNDS = Number(process.env.EVA_CANCELS ?? 40)
/** Chats that run beside each other. */
const ABREAST = 4

let kernel: TestKernel
afterEach(() => kernel.dispose())

/** Park and Miller's generator: the same rounds in every run. */
function randomOf(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state * 48_271) % 2_147_483_647
    return state % below
  }
}

test("cancels at any moment leave no process and no call without its result", async () => {
  kernel = await testKernel()
  const pids = join(kernel.folder, "pids")
  const leave = `echo $$ >> ${pids}; sleep 300 & echo $! >> ${pids}; echo begun`
  const steps = [
    { call: "shell", input: { command: "echo quick" } },
    { call: "shell", input: { command: `${leave}; wait`, yield_ms: 250 } },
    { call: "shell", input: { command: ["echo one", `${leave}; wait`] } },
    { say: "never" },
  ]
  const { bus, turns } = kernel.api
  const round = async (random: (below: number) => number): Promise<void> => {
    const chat = kernel.newChat()
    let left = random(12)
    const { unsubscribe } = bus.subscribe({ chats: [chat] }, () => {
      // In the midst of an event, after it, or when the command is likely to run.
      if (left-- === 0) setTimeout(() => void turns.cancelChat(chat), random(120))
    })
    const events = await kernel.turn(chat, plan(steps))
    unsubscribe()
    expect(unpaired(events)).toEqual([])
    expect(events.at(-1)).toMatchObject({ type: "done", reason: "cancelled" })
  }
  const lane = async (seed: number): Promise<void> => {
    const random = randomOf(seed)
    for (let n = 0; n < ROUNDS / ABREAST; n++) await round(random)
  }
  await Promise.all(Array.from({ length: ABREAST }, (_, n) => lane(n + 1)))

  const begun = existsSync(pids) ? readFileSync(pids, "utf8").split("\n").filter(Boolean) : []
  expect(begun.length).toBeGreaterThan(0)
  for (const pid of begun) while (await processLives(Number(pid))) await Bun.sleep(20)
}, 600_000)

function unpaired(events: readonly SeenEvent[]): string[] {
  const answered = new Set(events.map((event) => event.type === "tool_result" && event.id))
  return events.flatMap((event) =>
    event.type === "tool_call" && !answered.has(event.id) ? [event.id] : [],
  )
}
