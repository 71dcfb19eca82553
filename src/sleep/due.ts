/** When sleep is due: once a day at a time of day. Where the clocks jump over that time, the first moment behind it. */

/** The last such moment at or before `now`, and the first one after it; milliseconds since 1970. */
export function boundariesAround(
  now: number,
  { at, zone }: { at: string; zone: string },
): { last: number; next: number } {
  const time = Temporal.PlainTime.from(at)
  const today = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(zone).toPlainDate()
  const on = (days: number): number =>
    today.add({ days }).toZonedDateTime({ timeZone: zone, plainTime: time }).epochMilliseconds
  return on(0) <= now ? { last: on(0), next: on(1) } : { last: on(-1), next: on(0) }
}
