/** Sleep over the API, and turns that come while the kernel sleeps. */
import { afterEach, expect, test } from "bun:test"
import { createApi } from "../../src/api/app.ts"
import type { SleepRun, SleepStatus } from "../../src/schema/sleep.ts"
import { nextEvent, plan, texts } from "../support/kernel.ts"
import { DAY_MS, type SleepRig, sleepRig } from "./rig.ts"

let rig: SleepRig
let api: ReturnType<typeof createApi>
let stop: (() => Promise<void>) | undefined
afterEach(async () => {
  await stop?.()
  stop = undefined
  await rig.dispose()
})

async function rigged(options: Parameters<typeof sleepRig>[0] = {}) {
  rig = await sleepRig(options)
  api = createApi(rig.kernel.api)
  const listening = api.listen({ host: "127.0.0.1", port: 0 } as never)
  stop = listening.stop
  const ask = async <T>(method: string, path: string, body?: object) => {
    const reply = await fetch(`${listening.url}${path}`, {
      method,
      ...(body && {
        body: JSON.stringify(body),
        headers: { "content-type": "application/json" },
      }),
    })
    return { status: reply.status, body: (await reply.json()) as T }
  }
  return { ask, url: listening.url }
}

const SAME = ["Anna plays the violin in the city", "Anna plays the violin in the old city"]

/** Without the marks of sleep. */
const rowsNow = () =>
  rig.memories.corpus(0, 9).map(({ row: { consolidated_at: _mark, ...row } }) => row)

/** Two records that say the same, old enough. */
async function saveSame(): Promise<void> {
  for (const content of SAME) await rig.save(content)
  rig.clock.advance(2 * DAY_MS)
}

const merges = ({ phase }: { phase: string }) =>
  phase === "cluster" ? [{ op: "merge", ids: [1, 2], content: SAME[1]!, why: "same" }] : []

test("sleep is started, seen and read over the API (API-083, API-084, API-085, SLP-33, SLP-39)", async () => {
  const { ask } = await rigged({ planner: merges })
  expect((await ask("POST", "/v1/sleep")).status).toBe(409)
  await saveSame()
  const awake = await ask<SleepStatus>("GET", "/v1/sleep")
  expect(awake.body).toMatchObject({ state: "awake", run_id: null, phase: null })
  const started = await ask<SleepStatus>("POST", "/v1/sleep")
  expect(started.status).toBe(202)
  expect(started.body.state).not.toBe("awake")
  await rig.sleep.settled()
  const { body } = await ask<{ runs: SleepRun[] }>("GET", "/v1/sleep/runs?limit=5")
  expect(body.runs).toMatchObject([{ id: 1, state: "done", due_at: null, dry_run: false }])
  expect(body.runs[0]!.phases[1]!.ops).toEqual([
    {
      op: { op: "merge", ids: [1, 2], content: SAME[1]!, why: "same" },
      ...{ outcome: "applied", reason: null },
    },
  ])
  expect((await ask("GET", "/v1/sleep/runs/1")).body).toEqual(body.runs[0]!)
  expect((await ask("GET", "/v1/sleep/runs/2")).status).toBe(404)
  expect((await ask("GET", "/v1/sleep/runs?limit=0")).status).toBe(400)
})

test("a turn that comes while the kernel sleeps waits for waking, told by sleeping, and then goes on as ever (SLP-36, SLP-37, TURN-029, SSE-014)", async () => {
  const begun = Promise.withResolvers<void>()
  const { ask, url } = await rigged({
    planner: () => {
      begun.resolve()
      return { say: "x".repeat(200), delayMs: 60_000 }
    },
  })
  await saveSame()
  await ask("POST", "/v1/sleep")
  await begun.promise
  expect((await ask<SleepStatus>("GET", "/v1/sleep")).body).toMatchObject({
    ...{ state: "asleep", phase: "cluster", run_id: 1 },
  })
  const chat = rig.kernel.newChat()
  const sleeping = nextEvent(rig.kernel, chat, "sleeping")
  const reply = await fetch(`${url}/v1/chats/${chat}/messages`, {
    method: "POST",
    body: JSON.stringify({ text: plan([{ say: "good morning" }]) }),
    headers: { "content-type": "application/json", accept: "text/event-stream" },
  })
  await sleeping
  expect(rig.kernel.api.turns.generations()).toMatchObject([{ state: "queued" }])
  expect((await ask<SleepStatus>("POST", "/v1/sleep/wake")).body.state).toBe("awake")
  const types = [...(await reply.text()).matchAll(/"type":"([\w.]+)"/g)].map(([, type]) => type!)
  const shown = types.filter((type) => !type.startsWith("item"))
  expect(shown.slice(0, 3)).toEqual(["accepted", "sleeping", "turn_started"])
  expect(shown.at(-1)).toBe("done")
})

test("waking drops the phase at hand and keeps those before it; the next sleep is due when it was (SLP-38, API-084)", async () => {
  const begun = Promise.withResolvers<void>()
  const { ask } = await rigged({
    planner: (asked) => {
      if (asked.phase === "cluster") return merges(asked)
      begun.resolve()
      return { say: "x".repeat(200), delayMs: 60_000 }
    },
  })
  await saveSame()
  const due = (await ask<SleepStatus>("GET", "/v1/sleep")).body.next_at
  await ask("POST", "/v1/sleep")
  await begun.promise
  await ask("POST", "/v1/sleep/wake")
  const [run] = rig.sleep.runs({ limit: 1 })
  expect(run!.state).toBe("woken")
  expect(run!.phases.map(({ name }) => name)).toEqual(["hygiene", "cluster", "forget"])
  expect(rig.contents()).toEqual({ 1: SAME[1]! })
  expect((await ask<SleepStatus>("GET", "/v1/sleep")).body.next_at).toBe(due)
})

test("a waiting turn can be cancelled in its sleep", async () => {
  const begun = Promise.withResolvers<void>()
  const { ask } = await rigged({
    planner: () => {
      begun.resolve()
      return { say: "x".repeat(200), delayMs: 60_000 }
    },
  })
  await saveSame()
  await ask("POST", "/v1/sleep")
  await begun.promise
  const chat = rig.kernel.newChat()
  const sleeping = nextEvent(rig.kernel, chat, "sleeping")
  const ended = rig.kernel.turn(chat, "hello")
  await sleeping
  await rig.kernel.api.turns.cancelChat(chat)
  expect((await ended).at(-1)).toEqual({ type: "done", reason: "cancelled" })
  expect(rig.sleep.status().state).toBe("asleep")
})

test("memory_consolidate puts the kernel to sleep behind its own turn, for the master alone (TMEM-8, SLP-39)", async () => {
  await rigged({ planner: merges })
  await saveSame()
  const chat = rig.kernel.newChat()
  const script = plan([{ call: "memory_consolidate", input: {} }, { say: "good night" }])
  const guest = await rig.kernel.turn(chat, { text: script, guest: true })
  expect(JSON.stringify(guest)).not.toContain("you fall asleep")
  expect(rig.sleep.runs({ limit: 1 })).toEqual([])
  const events = await rig.kernel.turn(chat, script)
  expect(JSON.stringify(events)).toContain("you fall asleep when this turn is over")
  expect(texts(events)).toBe("good night")
  await rig.sleep.settled()
  expect(rig.sleep.runs({ limit: 1 })).toMatchObject([{ id: 1, state: "done", due_at: null }])
})

test("a night is undone: every record is as it was, what was changed since is left alone, once", async () => {
  const { ask } = await rigged({
    planner: ({ phase }) =>
      phase === "cluster"
        ? [{ op: "merge", ids: [1, 2], content: SAME[1]!, why: "same" }]
        : phase === "kinds"
          ? [
              { op: "importance", id: 3, importance: 1, why: "a trifle" },
              { op: "kind", id: 4, kind: "core", why: "often" },
            ]
          : [],
  })
  await rig.save(SAME[0]!, { private: true })
  await rig.save(SAME[1]!)
  await rig.save("Boris sells bread")
  await rig.save("Carl paints")
  rig.clock.advance(2 * DAY_MS)
  const before = rowsNow()
  await rig.night()
  expect(rig.memories.get(1, { master: true, trusted: true })).toMatchObject({ private: true })
  rig.memories.update(4, { content: "Carl paints and sings" }, { master: true, trusted: true })
  const undone = await ask("POST", "/v1/sleep/runs/1/undo")
  expect(undone).toEqual({ status: 200, body: { undone: 3, skipped: [4] } })
  const seen = rowsNow()
  expect(seen.slice(0, 3)).toEqual(before.slice(0, 3))
  expect(seen[3]).toMatchObject({ content: "Carl paints and sings", kind: "core" })
  expect((await ask("POST", "/v1/sleep/runs/1/undo")).status).toBe(409)
  expect((await ask("POST", "/v1/sleep/runs/7/undo")).status).toBe(404)
  // The next night does not plan the same again.
  rig.asked.length = 0
  await rig.night()
  expect(rig.asked.filter(({ phase }) => phase === "cluster")).toEqual([])
})

test("a kernel that is closed in its sleep ends the night and lets the waiting turn in; the journal tells", async () => {
  const begun = Promise.withResolvers<void>()
  await rigged({
    planner: () => {
      begun.resolve()
      return { say: "x".repeat(200), delayMs: 60_000 }
    },
  })
  await saveSame()
  rig.sleep.start()
  await begun.promise
  const chat = rig.kernel.newChat()
  const sleeping = nextEvent(rig.kernel, chat, "sleeping")
  const turn = rig.kernel.turn(chat, plan([{ say: "good night" }]))
  await sleeping
  await rig.kernel.close(10_000)
  expect(texts(await turn)).toBe("good night")
  await stop?.()
  stop = undefined
  const { folder } = rig.kernel
  rig = await sleepRig({ folder })
  expect(rig.sleep.runs({ limit: 1 })).toMatchObject([{ id: 1, state: "woken" }])
})

test("waking a kernel that only falls asleep leaves no night behind", async () => {
  await rigged({ planner: merges })
  await saveSame()
  const chat = rig.kernel.newChat()
  const started = nextEvent(rig.kernel, chat, "turn_started")
  const turn = rig.kernel.turn(chat, plan([{ say: "a b c d e f", delay_ms: 60_000 }]))
  await started
  expect(rig.sleep.start()).toBe("falling_asleep")
  expect(rig.sleep.start()).toBe("falling_asleep")
  const other = rig.kernel.newChat()
  const sleeping = nextEvent(rig.kernel, other, "sleeping")
  const waiting = rig.kernel.turn(other, plan([{ say: "hello" }]))
  await sleeping
  expect(await rig.sleep.wake()).toBe(true)
  expect(texts(await waiting)).toBe("hello")
  expect(rig.sleep.runs({ limit: 1 })).toEqual([])
  expect(await rig.sleep.wake()).toBe(false)
  await rig.kernel.api.turns.cancelChat(chat)
  await turn
})
