/** Calendar days, weeks and months in an IANA time zone, as spans of instants. The zone data is the runtime's own. */

/** From `from` on and before `to`, milliseconds since 1970. */
export interface Span {
  from: number
  to: number
}

export type CalendarUnit = "day" | "week" | "month"

/** Whether the runtime knows this zone: `Europe/Berlin`, `UTC`, `+03:00`. */
export function isTimeZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: zone })
    return true
  } catch {
    return false
  }
}

/**
 * The calendar unit of `zone` that holds the instant `at`. A week is the ISO one and begins on Monday. A day
 * begins with its first instant, which is not midnight where the clocks jump over midnight.
 */
export function calendarSpan(unit: CalendarUnit, at: number, zone: string): Span {
  const now = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone)
  const first = firstDay(unit, now.toPlainDate())
  const next = first.add({ [`${unit}s`]: 1 })
  return { from: startOf(first, zone), to: startOf(next, zone) }
}

function firstDay(unit: CalendarUnit, date: Temporal.PlainDate): Temporal.PlainDate {
  if (unit === "day") return date
  return unit === "week" ? date.subtract({ days: date.dayOfWeek - 1 }) : date.with({ day: 1 })
}

const startOf = (date: Temporal.PlainDate, zone: string): number =>
  date.toZonedDateTime(zone).epochMilliseconds
