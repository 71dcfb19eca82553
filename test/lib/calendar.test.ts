import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { type CalendarUnit, calendarSpan, isTimeZone } from "../../src/lib/calendar.ts"

const HOUR_MS = 60 * 60 * 1000

const span = (unit: CalendarUnit, at: string, zone: string) => {
  const { from, to } = calendarSpan(unit, Date.parse(at), zone)
  return [new Date(from).toISOString(), new Date(to).toISOString()]
}

/** The calendar date in a zone as Intl tells it: another road to the same zone data. */
function dateIn(zone: string): (at: number) => string {
  const format = new Intl.DateTimeFormat("en-CA", { timeZone: zone, dateStyle: "short" })
  return (at) => format.format(at)
}

describe("calendar spans", () => {
  test("day, ISO week and month of a zone", () => {
    const at = "2026-01-04T23:30:00Z"
    // Sunday in UTC is Monday in Berlin already.
    expect(span("day", at, "UTC")).toEqual(["2026-01-04T00:00:00.000Z", "2026-01-05T00:00:00.000Z"])
    expect(span("day", at, "Europe/Berlin")).toEqual([
      "2026-01-04T23:00:00.000Z",
      "2026-01-05T23:00:00.000Z",
    ])
    expect(span("week", at, "UTC")[0]).toBe("2025-12-29T00:00:00.000Z")
    expect(span("week", at, "Europe/Berlin")[0]).toBe("2026-01-04T23:00:00.000Z")
    expect(span("month", "2026-12-31T23:30:00Z", "Europe/Berlin")).toEqual([
      "2026-12-31T23:00:00.000Z",
      "2027-01-31T23:00:00.000Z",
    ])
  })

  test("days of 23 and 25 hours, and odd offsets", () => {
    const hours = (at: string, zone: string) => {
      const { from, to } = calendarSpan("day", Date.parse(at), zone)
      return (to - from) / HOUR_MS
    }
    expect(hours("2026-03-29T12:00:00Z", "Europe/Berlin")).toBe(23)
    expect(hours("2026-10-25T12:00:00Z", "Europe/Berlin")).toBe(25)
    expect(hours("2026-04-04T20:00:00Z", "Australia/Lord_Howe")).toBe(24.5)
    expect(span("day", "2026-05-01T00:00:00Z", "Asia/Kathmandu")[0]).toBe(
      "2026-04-30T18:15:00.000Z",
    )
  })

  test("a day whose midnight does not exist begins with its first instant", () => {
    // São Paulo jumped from 24:00 to 01:00 that night.
    expect(span("day", "2018-11-04T12:00:00Z", "America/Sao_Paulo")).toEqual([
      "2018-11-04T03:00:00.000Z",
      "2018-11-05T02:00:00.000Z",
    ])
    expect(span("day", "2018-11-04T02:59:59Z", "America/Sao_Paulo")[1]).toBe(
      "2018-11-04T03:00:00.000Z",
    )
  })

  test("a span holds its instant, and Intl sees the date change exactly at its edges", () => {
    const zones = ["Europe/Berlin", "America/New_York", "Asia/Tehran", "Pacific/Auckland", "UTC"]
    const instants = fc.integer({ min: Date.UTC(1990, 0), max: Date.UTC(2037, 0) })
    const units = fc.constantFrom("day", "week", "month")
    fc.assert(
      fc.property(fc.constantFrom(...zones), units, instants, (zone, unit, at) => {
        const { from, to } = calendarSpan(unit, at, zone)
        expect(from <= at && at < to).toBe(true)
        const date = dateIn(zone)
        for (const edge of [from, to]) expect(date(edge - 1)).not.toBe(date(edge))
        expect(calendarSpan(unit, to - 1, zone)).toEqual({ from, to })
        expect(calendarSpan(unit, to, zone).from).toBe(to)
        if (unit === "month") expect(date(from)).toEndWith("-01")
        if (unit === "day") expect(date(from)).toBe(date(at))
      }),
      { seed: 1, numRuns: 400 },
    )
  })

  test("zones that the runtime knows", () => {
    expect(["Europe/Berlin", "UTC", "+03:00"].map(isTimeZone)).toEqual([true, true, true])
    expect(["Mars/Base", "", "Berlin"].map(isTimeZone)).toEqual([false, false, false])
  })
})
