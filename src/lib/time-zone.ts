/**
 * The zone that people's days and clock times are in. The first look at the platform's zone data costs some
 * ten milliseconds, so nothing is asked before it is needed.
 */
export interface TimeZone {
  /** IANA name. */
  name(): string
  /** `Monday 2026-11-30 23:05 (Europe/Berlin)`: minutes only, since seconds help nobody. */
  local(ms: number): string
}

/** Without a name: the zone of the host. */
export function createTimeZone(configured?: string): TimeZone {
  let known = configured
  let format: Intl.DateTimeFormat | undefined
  let last = { minute: Number.NaN, text: "" }
  const name = (): string => {
    known ??= Intl.DateTimeFormat().resolvedOptions().timeZone
    return known
  }
  return {
    name,
    local: (ms) => {
      // Asked for with every request to a model, and the same for a minute in every zone of today.
      const minute = Math.floor(ms / MINUTE_MS)
      if (minute === last.minute) return last.text
      format ??= minuteFormat(name())
      const parts = Object.fromEntries(
        format.formatToParts(ms).map((part) => [part.type, part.value]),
      )
      const { weekday, year, month, day, hour, minute: minutes } = parts
      last = { minute, text: `${weekday} ${year}-${month}-${day} ${hour}:${minutes} (${name()})` }
      return last.text
    },
  }
}

const MINUTE_MS = 60_000

const minuteFormat = (timeZone: string): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat("en-GB", {
    timeZone,
    ...{ weekday: "long", year: "numeric", month: "2-digit", day: "2-digit" },
    ...{ hour: "2-digit", minute: "2-digit" },
  })
