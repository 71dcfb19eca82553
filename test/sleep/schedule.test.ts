/** When the kernel sleeps by itself. */
import { afterEach, describe, expect, test } from "bun:test"
import { boundariesAround } from "../../src/sleep/due.ts"
import { nextEvent, plan } from "../support/kernel.ts"
import { DAY_MS, type SleepRig, sleepRig } from "./rig.ts"

const HOUR_MS = 3600 * 1000
let rig: SleepRig | undefined
afterEach(async () => {
  await rig?.dispose()
  rig = undefined
})

async function withMemories(options: Parameters<typeof sleepRig>[0] = {}): Promise<SleepRig> {
  rig = await sleepRig(options)
  for (const content of ["Anna plays the violin", "Boris sells bread"]) await rig.save(content)
  return rig
}

async function lookAndSleep({ sleep }: SleepRig): Promise<boolean> {
  const slept = sleep.look()
  await sleep.settled()
  return slept
}

test("sleeps once a day at sleep.at, midnight by default; a missed night is slept at the first look, and never twice (SLP-1, SLP-2, SLP-4, API-083)", async () => {
  // 11:00 in Berlin: the midnight of that day is past and was never slept.
  const { clock, sleep } = await withMemories()
  expect(sleep.status().next_at).toBe("2026-01-04T23:00:00.000Z")
  expect(await lookAndSleep(rig!)).toBe(true)
  expect(sleep.status().next_at).toBe("2026-01-05T23:00:00.000Z")
  expect(await lookAndSleep(rig!)).toBe(false)
  clock.advance(12 * HOUR_MS)
  expect(await lookAndSleep(rig!)).toBe(false)
  clock.advance(HOUR_MS)
  expect(await lookAndSleep(rig!)).toBe(true)
  expect(await lookAndSleep(rig!)).toBe(false)
  // The machine was off for three days: one night is made up for.
  clock.advance(3 * DAY_MS + 5 * HOUR_MS)
  expect(sleep.status().next_at).toBe("2026-01-08T23:00:00.000Z")
  expect(await lookAndSleep(rig!)).toBe(true)
  expect(await lookAndSleep(rig!)).toBe(false)
  expect(sleep.runs({ limit: 9 }).map(({ due_at }) => due_at)).toEqual([
    "2026-01-08T23:00:00.000Z",
    "2026-01-05T23:00:00.000Z",
    "2026-01-04T23:00:00.000Z",
  ])
})

test("sleep waits for running turns alone, unless idle_for asks for silence (SLP-3)", async () => {
  const { kernel, sleep, clock } = await withMemories({ sleep: { idle_for: "10m" } })
  clock.advance(HOUR_MS)
  const chat = kernel.newChat()
  const started = nextEvent(kernel, chat, "turn_started")
  const turn = kernel.turn(chat, plan([{ say: "a b c d e f", delay_ms: 60_000 }]))
  await started
  expect(sleep.look()).toBe(false)
  clock.advance(HOUR_MS)
  expect(sleep.look()).toBe(false)
  await kernel.api.turns.cancelChat(chat)
  await turn
  clock.advance(9 * 60_000)
  expect(sleep.look()).toBe(false)
  clock.advance(60_000)
  expect(await lookAndSleep(rig!)).toBe(true)
})

test("without idle_for the end of the last turn is enough (SLP-3)", async () => {
  const { kernel } = await withMemories()
  await kernel.turn(kernel.newChat(), "hello")
  while (kernel.api.turns.generations().length > 0) await Bun.sleep(1)
  expect(await lookAndSleep(rig!)).toBe(true)
})

test("sleep that is off does not come by itself, and can be asked for (SLP-5)", async () => {
  const { sleep } = await withMemories({ sleep: { enabled: false } })
  expect(await lookAndSleep(rig!)).toBe(false)
  expect(sleep.start()).toBe("falling_asleep")
  await sleep.settled()
  expect(sleep.runs({ limit: 9 })).toHaveLength(1)
})

test("the memory stage can be turned off alone (SLP-8)", async () => {
  const { sleep } = await withMemories({ memory: { enabled: false } })
  expect(await lookAndSleep(rig!)).toBe(false)
  expect(() => sleep.start()).toThrow("nothing to tidy")
})

describe("the moment that is due", () => {
  const berlin = { at: "02:30", zone: "Europe/Berlin" }
  const around = (now: string, place = berlin) => {
    const { last, next } = boundariesAround(Date.parse(now), place)
    return [last, next].map((ms) => new Date(ms).toISOString())
  }

  test("is a local time, in summer and in winter", () => {
    expect(around("2026-07-01T00:30:00Z")).toEqual([
      "2026-07-01T00:30:00.000Z",
      "2026-07-02T00:30:00.000Z",
    ])
    expect(around("2026-01-01T01:29:59Z")).toEqual([
      "2025-12-31T01:30:00.000Z",
      "2026-01-01T01:30:00.000Z",
    ])
  })

  test("comes once where the clocks jump over it, and once where they pass it twice", () => {
    // 29 March 2026, 02:00 → 03:00.
    expect(around("2026-03-29T12:00:00Z")).toEqual([
      "2026-03-29T01:30:00.000Z",
      "2026-03-30T00:30:00.000Z",
    ])
    // 25 October 2026, 03:00 → 02:00.
    expect(around("2026-10-25T12:00:00Z")).toEqual([
      "2026-10-25T00:30:00.000Z",
      "2026-10-26T01:30:00.000Z",
    ])
  })
})
