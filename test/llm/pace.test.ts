import { expect, test } from "bun:test"
import { createPace } from "../../src/llm/pace.ts"

/** Sleepers wake in the order of their times, and time jumps to each. */
function simulation() {
  let now = 0
  const sleepers: { at: number; wake: () => void }[] = []
  const clock = { now: () => now, monotonic: () => now }
  const sleep = (ms: number, signal?: AbortSignal) =>
    new Promise<void>((wake) => {
      sleepers.push({ at: now + ms, wake })
      signal?.addEventListener("abort", () => wake(), { once: true })
    })
  /** Lets everything that can run do so, then jumps to the next sleeper, until `until` ms or rest. */
  const run = async (until: number) => {
    for (;;) {
      for (let tick = 0; tick < 20; tick++) await Promise.resolve()
      sleepers.sort((a, b) => a.at - b.at)
      if (sleepers.length === 0 || sleepers[0]!.at > until) return
      const next = sleepers.shift()!
      now = next.at
      next.wake()
    }
  }
  return { clock, sleep, run, random: () => 0.5 }
}

test("a content upstream makes nobody wait", async () => {
  const pace = createPace(simulation())
  await Promise.all(Array.from({ length: 100 }, () => pace.enter(AbortSignal.any([]))))
  expect(pace.expectedWaitMs()).toBe(0)
})

test("fifty chats against one call a second stay near that limit and all get through", async () => {
  const time = simulation()
  const pace = createPace(time)
  const calls: number[] = []
  let lastAccepted = Number.NEGATIVE_INFINITY
  let answered = 0
  const chat = async () => {
    for (;;) {
      await pace.enter(AbortSignal.any([]))
      const now = time.clock.now()
      calls.push(now)
      if (now - lastAccepted >= 1000) {
        lastAccepted = now
        answered++
        pace.succeeded()
        return
      }
      pace.limited(1000 - (now - lastAccepted))
    }
  }
  const chats = Array.from({ length: 50 }, chat)
  await time.run(200_000)
  await Promise.all(chats)
  expect(answered).toBe(50)
  const afterBurst = calls.filter((at) => at > 0)
  expect(afterBurst.length).toBeLessThan(110)
  expect(calls.at(-1)!).toBeLessThan(110_000)
})

test("who leaves the line early neither waits for those ahead nor holds up those behind", async () => {
  const time = simulation()
  const pace = createPace(time)
  pace.limited(10_000)
  const left = new AbortController()
  const passed: string[] = []
  const enter = async (name: string, signal: AbortSignal) => {
    await pace.enter(signal)
    passed.push(`${name} ${time.clock.now()}`)
  }
  const all = Promise.all([
    enter("first", AbortSignal.any([])),
    enter("left", left.signal),
    enter("last", AbortSignal.any([])),
  ])
  left.abort()
  await time.run(60_000)
  await all
  expect(passed).toEqual(["left 0", "first 10000", "last 10250"])
})
