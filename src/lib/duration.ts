/** Durations as people write them: `5s`, `1m`, `7days`, `1h 30m` (the grammar of Rust's humantime). */

const UNIT_MS: Record<string, number> = {
  ns: 1e-6,
  nsec: 1e-6,
  us: 1e-3,
  usec: 1e-3,
  ms: 1,
  msec: 1,
  millis: 1,
  s: 1000,
  sec: 1000,
  secs: 1000,
  second: 1000,
  seconds: 1000,
  m: 60_000,
  min: 60_000,
  mins: 60_000,
  minute: 60_000,
  minutes: 60_000,
  h: 3_600_000,
  hr: 3_600_000,
  hrs: 3_600_000,
  hour: 3_600_000,
  hours: 3_600_000,
  d: 86_400_000,
  day: 86_400_000,
  days: 86_400_000,
  w: 604_800_000,
  week: 604_800_000,
  weeks: 604_800_000,
  month: 2_630_016_000,
  months: 2_630_016_000,
  M: 2_630_016_000,
  y: 31_557_600_000,
  year: 31_557_600_000,
  years: 31_557_600_000,
}

/** Milliseconds, or undefined when the text is no duration. */
export function parseDuration(text: string): number | undefined {
  const pieces = [...text.trim().matchAll(/(\d+)\s*([A-Za-z]+)\s*/gy)]
  if (pieces.map((piece) => piece[0]).join("") !== text.trim() || pieces.length === 0)
    return undefined
  let total = 0
  for (const [, amount, unit] of pieces) {
    const factor = UNIT_MS[unit!]
    if (factor === undefined) return undefined
    total += Number(amount) * factor
  }
  return total
}

const FORMAT_UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1000],
  ["ms", 1],
] as const

/** Whole milliseconds as `parseDuration` reads them back: 5400000 is `1h 30m`. */
export function formatDuration(ms: number): string {
  const pieces: string[] = []
  let left = Math.round(ms)
  for (const [unit, size] of FORMAT_UNITS) {
    const amount = Math.floor(left / size)
    if (amount > 0) pieces.push(`${amount}${unit}`)
    left -= amount * size
  }
  return pieces.join(" ") || "0s"
}
