/**
 * The zone that people's days and clock times are in. The first look at the platform's zone data costs some
 * ten milliseconds, so nothing is asked before it is needed.
 */
export interface TimeZone {
  /** IANA name. */
  name(): string
  /** `Monday 2026-11-30 23:05 (Europe/Berlin)`: minutes only, since seconds help nobody. */
  local(ms: number): string
  /** The day `2026-11-30` and the time `23:05` there. */
  stamp(ms: number): Stamp
}

export interface Stamp {
  date: string
  time: string
}

/** Without a name: the zone of the host. */
export function createTimeZone(configured?: string): TimeZone {
  let known = configured
  let format: Intl.DateTimeFormat | undefined
  let last = { minute: Number.NaN, weekday: "", date: "", time: "" }
  const name = (): string => {
    known ??= Intl.DateTimeFormat().resolvedOptions().timeZone
    return known
  }
  const at = (ms: number): typeof last => {
    // Asked for with every request to a model, and the same for a minute in every zone of today.
    const minute = Math.floor(ms / MINUTE_MS)
    if (minute === last.minute) return last
    format ??= minuteFormat(name())
    const parts = Object.fromEntries(
      format.formatToParts(ms).map((part) => [part.type, part.value]),
    )
    const { weekday = "", year, month, day, hour, minute: minutes } = parts
    last = { minute, weekday, date: `${year}-${month}-${day}`, time: `${hour}:${minutes}` }
    return last
  }
  return {
    name,
    local: (ms) => {
      const { weekday, date, time } = at(ms)
      return `${weekday} ${date} ${time} (${name()})`
    },
    stamp: (ms) => {
      const { date, time } = at(ms)
      return { date, time }
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
