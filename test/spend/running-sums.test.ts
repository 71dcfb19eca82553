import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import fc from "fast-check"
import { emptyUsage } from "../../src/schema/usage.ts"
import { createSpend, type Spend } from "../../src/spend/spend.ts"
import { createReader, type Reader } from "../../src/store/reader.ts"
import { openTempStore } from "../support/temp-store.ts"

const ZONE = "Europe/Berlin"

let temp: ReturnType<typeof openTempStore>
let reader: Reader
let spend: Spend

beforeEach(() => {
  temp = openTempStore("2026-01-31T12:00:00Z")
  reader = createReader(temp.store.path)
  spend = createSpend({ ...temp, reader })
})
afterEach(async () => {
  await reader.close()
  temp.close()
})

const pay = (cost: number | null, more: { chatId?: string; runId?: string } = {}) =>
  spend.record({
    ...{ source: "message", model: "opus", reasoningCost: null, ...more },
    usage: { ...emptyUsage(), cost },
  })

describe("what was spent so far", () => {
  test("day and month turn at midnight of the zone; a chat and a run are counted whole", () => {
    pay(1, { chatId: "a" })
    pay(0.5, { chatId: "b", runId: "r" })
    pay(null)
    const sums = () => [
      spend.spentSince("day", ZONE),
      spend.spentSince("month", ZONE),
      spend.spentSince({ chat: "a" }, ZONE),
      spend.spentSince({ run: "r" }, ZONE),
    ]
    expect(sums()).toEqual([1.5, 1.5, 1, 0.5])

    temp.clock.set(Date.parse("2026-01-31T22:59:59Z"))
    pay(0.25, { chatId: "a" })
    expect(sums()).toEqual([1.75, 1.75, 1.25, 0.5])

    // Midnight in Berlin, and the first of February.
    temp.clock.set(Date.parse("2026-01-31T23:00:00Z"))
    expect(sums()).toEqual([0, 0, 1.25, 0.5])
    pay(0.125, { chatId: "a" })
    expect(sums()).toEqual([0.125, 0.125, 1.375, 0.5])

    // A clock set back finds the sums of that day again.
    temp.clock.set(Date.parse("2026-01-31T20:00:00Z"))
    expect(sums()).toEqual([1.75, 1.75, 1.375, 0.5])
  })

  test("after a restart the sums are those of the rows", () => {
    pay(1, { chatId: "a" })
    const again = createSpend({ ...temp, reader })
    expect(again.spentSince("day", ZONE)).toBe(1)
    expect(again.spentSince({ chat: "a" }, ZONE)).toBe(1)
  })

  test("a transaction that is undone leaves no trace, although its row ids are used again", () => {
    pay(1, { chatId: "a" })
    expect(() =>
      temp.store.write(() => {
        pay(5, { chatId: "a" })
        expect(spend.spentSince({ chat: "a" }, ZONE)).toBe(6)
        throw new Error("no")
      }),
    ).toThrow("no")
    pay(0.5, { chatId: "a" })
    expect(spend.spentSince({ chat: "a" }, ZONE)).toBe(1.5)
    expect(spend.spentSince("day", ZONE)).toBe(1.5)
  })

  test("more chats than are remembered are still right", () => {
    temp.store.write(() => {
      for (let chat = 0; chat < 1100; chat++) pay(0.001, { chatId: `c${chat}` })
    })
    for (let round = 0; round < 2; round++) {
      for (let chat = 0; chat < 1100; chat++) {
        expect(spend.spentSince({ chat: `c${chat}` }, ZONE)).toBe(0.001)
      }
    }
  })

  test("in any order of paying, asking and time passing the answer equals a full sum", () => {
    const step = fc.oneof(
      fc.record({ pay: fc.integer({ min: 0, max: 5_000_000 }), chat: fc.constantFrom("a", "b") }),
      fc.record({ wait: fc.integer({ min: -40, max: 40 }) }),
      fc.record({ ask: fc.constantFrom("day", "month", "a", "b") }),
    )
    const full = (where: string, ...values: (string | number)[]) =>
      temp.store.db
        .query<{ usd: number }, (string | number)[]>(
          `SELECT coalesce(sum(cost_micros), 0) / 1e6 AS usd FROM spend WHERE ${where}`,
        )
        .get(...values)!.usd
    const expected = (ask: string) => {
      if (ask === "a" || ask === "b") return full("chat_id = ?", ask)
      const date = new Intl.DateTimeFormat("en-CA", { timeZone: "UTC" }).format(temp.clock.now())
      const prefix = ask === "day" ? date : date.slice(0, 7)
      return full("strftime('%Y-%m-%d', at / 1000, 'unixepoch') LIKE ?", `${prefix}%`)
    }
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        for (const each of steps) {
          if ("pay" in each) pay(each.pay / 1e6, { chatId: each.chat })
          else if ("wait" in each) temp.clock.advance(each.wait * 60 * 60 * 1000)
          else {
            const { ask } = each
            const scope = ask === "day" || ask === "month" ? ask : { chat: ask }
            expect(spend.spentSince(scope, "UTC")).toBe(expected(ask))
          }
        }
      }),
      { seed: 1, numRuns: 20 },
    )
  })

  test("a later question reads only the rows that came since", () => {
    const plan = (where: string) =>
      temp.store.db
        .query<{ detail: string }, []>(
          `EXPLAIN QUERY PLAN SELECT coalesce(sum(cost_micros), 0) FROM spend WHERE ${where}`,
        )
        .all()
        .map(({ detail }) => detail)
        .join()
    expect(plan("at >= 1 AND at < 2 AND +id > 0 AND +id <= 9")).toContain(
      "COVERING INDEX spend_by_time",
    )
    expect(plan("+at >= 1 AND +at < 2 AND id > 5 AND id <= 9")).toContain("rowid>? AND rowid<?")
    expect(plan("chat_id = 'a' AND id > 5 AND id <= 9")).toContain("chat_id=? AND rowid>?")
    expect(plan("run_id = 'a' AND id > 5 AND id <= 9")).toContain("run_id=? AND rowid>?")
  })
})
