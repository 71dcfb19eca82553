import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { KernelError } from "../../src/lib/error.ts"
import type { SpendTotals } from "../../src/schema/stats.ts"
import type { PaidTrip } from "../../src/schema/usage.ts"
import { emptyUsage, type Usage } from "../../src/schema/usage.ts"
import { createSpend, type Spend } from "../../src/spend/spend.ts"
import { createReader, type Reader } from "../../src/store/reader.ts"
import { openTempStore } from "../support/temp-store.ts"

const ZONE = "Europe/Berlin"
const CONTEXT = { tokens: 900, prefix_tokens: 400 }

let temp: ReturnType<typeof openTempStore>
let reader: Reader
let spend: Spend

beforeEach(() => {
  // A Wednesday; the week began on Monday the 29th of June, the month on Wednesday itself.
  temp = openTempStore("2026-07-01T10:00:00Z")
  reader = createReader(temp.store.path)
  spend = createSpend({ ...temp, reader })
})
afterEach(async () => {
  await reader.close()
  temp.close()
})

const usage = (more: Partial<Usage> = {}): Usage => ({
  ...emptyUsage(),
  prompt_tokens: 1000,
  completion_tokens: 100,
  cost: 0.01,
  ...more,
})

const trip = (more: Partial<PaidTrip> = {}): PaidTrip => ({
  ...{ chatId: "chat-1", turnId: "turn-1", source: "message", model: "opus" },
  ...{ usage: usage(), reasoningCost: null },
  ...more,
})

const recordAt = (at: string, more: Partial<PaidTrip> = {}) => {
  const now = temp.clock.now()
  temp.clock.set(Date.parse(at))
  spend.record(trip(more))
  temp.clock.set(now)
}

const totals = (more: Partial<SpendTotals> = {}): SpendTotals => ({
  ...{ cost: 0, requests: 0, unpriced_requests: 0, prompt_tokens: 0, completion_tokens: 0 },
  ...{ reasoning_tokens: 0, cached_tokens: 0, cache_write_tokens: 0, reasoning_cost: null },
  ...more,
})

describe("recording", () => {
  test("STAT-13: a trip is one row of its chat, with its source and what went into the cache", () => {
    spend.record(
      trip({
        runId: "run-1",
        source: "cron",
        usage: usage({ cached_tokens: 700, cache_write_tokens: 50, reasoning_tokens: 30 }),
        reasoningCost: 0.002,
      }),
    )
    expect(temp.store.db.query("SELECT * FROM spend").all()).toEqual([
      {
        ...{ id: 1, at: Date.parse("2026-07-01T10:00:00Z") },
        ...{ chat_id: "chat-1", turn_id: "turn-1", run_id: "run-1" },
        ...{ source: "cron", model: "opus", prompt_tokens: 1000, completion_tokens: 100 },
        ...{ reasoning_tokens: 30, cached_tokens: 700, cache_write_tokens: 50 },
        ...{ cost_micros: 10_000, reasoning_cost_micros: 2000 },
      },
    ])
  })

  test("a trip is undone with the transaction that it belongs to", async () => {
    expect(() =>
      temp.store.write(() => {
        spend.record(trip())
        throw new Error("no")
      }),
    ).toThrow("no")
    expect((await spend.ofChat("chat-1", CONTEXT)).total).toEqual(totals())
  })

  test("nonsense of a provider costs its figure, not the answer that is stored with it", async () => {
    spend.record(
      trip({ usage: usage({ prompt_tokens: Number.NaN, completion_tokens: 1.5, cost: -3 }) }),
    )
    spend.record(trip({ usage: usage({ cost: Number.POSITIVE_INFINITY }) }))
    expect((await spend.ofChat("chat-1", CONTEXT)).total).toEqual(
      totals({
        ...{ requests: 2, unpriced_requests: 2 },
        ...{ prompt_tokens: 1000, completion_tokens: 102 },
      }),
    )
  })

  test("sums of many small amounts are exact", async () => {
    for (let count = 0; count < 1000; count++)
      spend.record(trip({ usage: usage({ cost: 0.0001 }) }))
    expect((await spend.ofChat("chat-1", CONTEXT)).total.cost).toBe(0.1)
    expect(spend.spentSince("day", ZONE)).toBe(0.1)
  })
})

describe("spend of a chat", () => {
  test("STAT-11: money, tokens, requests by source, and the weight of the context", async () => {
    spend.record(trip({ usage: usage({ cached_tokens: 800, cache_write_tokens: 100 }) }))
    spend.record(trip({ usage: usage({ reasoning_tokens: 40 }), reasoningCost: 0.004 }))
    spend.record(trip({ source: "notes", model: "haiku", usage: usage({ cost: 0.002 }) }))
    spend.record(trip({ source: "notes", model: "local", usage: usage({ cost: null }) }))
    spend.record(trip({ chatId: "chat-2" }))
    const message = totals({
      ...{ cost: 0.02, requests: 2, prompt_tokens: 2000, completion_tokens: 200 },
      ...{ reasoning_tokens: 40, cached_tokens: 800, cache_write_tokens: 100 },
      reasoning_cost: 0.004,
    })
    const haiku = totals({
      ...{ cost: 0.002, requests: 1, prompt_tokens: 1000, completion_tokens: 100 },
    })
    const local = totals({
      ...{ requests: 1, unpriced_requests: 1, prompt_tokens: 1000, completion_tokens: 100 },
    })
    expect(await spend.ofChat("chat-1", CONTEXT)).toEqual({
      total: totals({
        ...{ cost: 0.022, requests: 4, unpriced_requests: 1 },
        ...{ prompt_tokens: 4000, completion_tokens: 400, reasoning_tokens: 40 },
        ...{ cached_tokens: 800, cache_write_tokens: 100, reasoning_cost: 0.004 },
      }),
      by_model: [
        { model: "opus", ...message },
        { model: "haiku", ...haiku },
        { model: "local", ...local },
      ],
      by_source: [
        { source: "message", ...message },
        {
          source: "notes",
          ...haiku,
          ...{ requests: 2, unpriced_requests: 1, prompt_tokens: 2000, completion_tokens: 200 },
        },
      ],
      context: CONTEXT,
    })
  })

  test("STAT-05: reasoning_cost is null without a price and a number with one", async () => {
    spend.record(trip({ usage: usage({ reasoning_tokens: 40 }) }))
    const before = await spend.ofChat("chat-1", { tokens: 0, prefix_tokens: null })
    expect(before.total).toMatchObject({ reasoning_tokens: 40, reasoning_cost: null })
    expect(before.context.prefix_tokens).toBeNull()
    spend.record(trip({ model: "priced", usage: usage({ reasoning_tokens: 0 }), reasoningCost: 0 }))
    const { by_model } = await spend.ofChat("chat-1", CONTEXT)
    expect(by_model.map(({ model, reasoning_cost }) => [model, reasoning_cost])).toEqual([
      ["opus", null],
      ["priced", 0],
    ])
  })

  test("an unknown chat has spent nothing", async () => {
    expect(await spend.ofChat("nobody", CONTEXT)).toEqual({
      ...{ total: totals(), by_model: [], by_source: [], context: CONTEXT },
    })
  })
})

describe("statistics", () => {
  test("STAT-01 STAT-03: the calendar day, week and month of the asked zone", async () => {
    recordAt("2026-06-28T21:59:59Z") // Sunday in Berlin: before the week
    recordAt("2026-06-28T22:00:00Z") // Monday in Berlin
    recordAt("2026-06-30T21:59:59Z") // the last second of June in Berlin
    recordAt("2026-06-30T22:00:00Z") // the first of July in Berlin
    recordAt("2026-07-01T09:00:00Z")
    recordAt("2026-07-01T22:00:00Z") // tomorrow: a clock was set back since
    const berlin = await spend.stats({ zone: ZONE })
    const prompt = ({ day, week, month }: typeof berlin) =>
      [day, week, month].map(({ from, total }) => [from, total.prompt_tokens])
    expect(prompt(berlin)).toEqual([
      ["2026-06-30T22:00:00.000Z", 2000],
      ["2026-06-28T22:00:00.000Z", 5000],
      ["2026-06-30T22:00:00.000Z", 3000],
    ])
    expect(prompt(await spend.stats({ zone: "UTC" }))).toEqual([
      ["2026-07-01T00:00:00.000Z", 2000],
      ["2026-06-29T00:00:00.000Z", 4000],
      ["2026-07-01T00:00:00.000Z", 2000],
    ])
    expect(prompt(await spend.stats({ zone: "America/Los_Angeles" }))[0]).toEqual([
      "2026-07-01T07:00:00.000Z",
      2000,
    ])
  })

  test("STAT-01: the zones come with the program, not with the operating system", async () => {
    const program = `
      const { calendarSpan } = await import(${JSON.stringify(import.meta.resolve("../../src/lib/calendar.ts"))})
      process.stdout.write(String(calendarSpan("day", Date.UTC(2026, 6, 1, 12), "Asia/Kathmandu").from))`
    const child = Bun.spawn([process.execPath, "-e", program], {
      env: { TZDIR: "/nonexistent", ZONEINFO: "/nonexistent", TZ: "UTC" },
      stdout: "pipe",
    })
    expect(new Date(Number(await child.stdout.text())).toISOString()).toBe(
      "2026-06-30T18:15:00.000Z",
    )
  })

  test("STAT-02: by model and by source, with cached, cache-written and thought tokens", async () => {
    const cached = { cached_tokens: 600, cache_write_tokens: 30, reasoning_tokens: 20 }
    spend.record(trip({ usage: usage(cached), reasoningCost: 0.001 }))
    spend.record(trip({ source: "agent", usage: usage({ ...cached, cost: 0.05 }) }))
    spend.record(trip({ source: "agent", model: "haiku", usage: usage({ cost: 0.001 }) }))
    const { day } = await spend.stats({ zone: ZONE })
    const shown = { cached_tokens: true, cache_write_tokens: true, reasoning_tokens: true }
    const pick = (sums: SpendTotals) =>
      Object.keys(shown).map((key) => sums[key as keyof typeof shown])
    expect(pick(day.total)).toEqual([1200, 60, 40])
    expect(day.by_model.map((each) => [each.model, each.cost, ...pick(each)])).toEqual([
      ["opus", 0.06, 1200, 60, 40],
      ["haiku", 0.001, 0, 0, 0],
    ])
    expect(day.by_source.map((each) => [each.source, each.cost, ...pick(each)])).toEqual([
      ["agent", 0.051, 600, 30, 20],
      ["message", 0.01, 600, 30, 20],
    ])
    expect(day.by_source.map(({ reasoning_cost }) => reasoning_cost)).toEqual([null, 0.001])
  })

  test("STAT-06: the last rate limits of each upstream", async () => {
    const limit = { name: "requests", limit: 50, remaining: 49 }
    spend.rateLimits.set("openai", [limit])
    temp.clock.advance(1000)
    spend.rateLimits.set("anthropic", [{ name: "tokens", remaining: 7 }])
    spend.rateLimits.set("openai", [{ ...limit, remaining: 48 }])
    spend.rateLimits.set("openai", [])
    expect((await spend.stats({ zone: ZONE })).rate_limits).toEqual([
      {
        upstream: "anthropic",
        at: "2026-07-01T10:00:01.000Z",
        limits: [{ name: "tokens", remaining: 7 }],
      },
      { upstream: "openai", at: "2026-07-01T10:00:01.000Z", limits: [{ ...limit, remaining: 48 }] },
    ])
  })

  test("STAT-08: what surfaces judged and answered adds up in its window", async () => {
    temp.clock.set(Date.parse("2026-06-30T10:00:00Z"))
    spend.triage({ engaged: 5, responded: 2 })
    temp.clock.set(Date.parse("2026-07-01T10:00:00Z"))
    spend.triage({ engaged: 3, responded: 3 })
    spend.triage({ engaged: 0, responded: 0 })
    const { day, week, month } = await spend.stats({ zone: ZONE })
    expect([day.triage, week.triage, month.triage]).toEqual([
      { engaged: 3, responded: 3 },
      { engaged: 8, responded: 5 },
      { engaged: 3, responded: 3 },
    ])
  })

  test("other rooms add their blocks; without them those are empty, not absent", async () => {
    const empty = await spend.stats({ zone: ZONE })
    expect(empty.month.team).toEqual({ spawned: 0, outcomes: {}, reported: 0, silent: 0 })
    expect([empty.rules, empty.advisor]).toEqual([[], []])
    const whole = createSpend({
      ...{ store: temp.store, clock: temp.clock, reader },
      team: async ({ from }) => ({ spawned: from, outcomes: { done: 1 }, reported: 1, silent: 0 }),
      rules: async () => [{ rule: "quiet", fired: 0 }],
      advisor: async () => [{ verdict: "spliced", notes: 2 }],
    })
    const { day, rules, advisor } = await whole.stats({ zone: "UTC" })
    expect(day.team.spawned).toBe(Date.parse("2026-07-01T00:00:00Z"))
    expect([rules, advisor]).toEqual([
      [{ rule: "quiet", fired: 0 }],
      [{ verdict: "spliced", notes: 2 }],
    ])
  })

  test("an unknown zone is refused with an example", async () => {
    const error = await spend.stats({ zone: "Mars/Base" }).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(KernelError)
    expect(error).toMatchObject({ code: "invalid", path: "tz" })
    expect(String(error)).toContain("Europe/Berlin")
  })
})
