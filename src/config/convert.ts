/** From what people write to what the kernel works with: durations, sizes, paths, addresses, zones. */
import { resolve } from "node:path"
import { parseDuration } from "../lib/duration.ts"
import { errorText } from "../lib/error.ts"
import type { FieldKind } from "./field.ts"
import { parseListen } from "./listen.ts"

export interface Place {
  /** A relative path starts here. */
  directory: string
  /** What a leading `~/` stands for. */
  home: string | undefined
}

export type Converted = { value: unknown } | { wrong: string }

type Convert = (value: unknown, place: Place) => Converted

/** Values of a wrong type pass through: the schema check names them. */
export const CONVERTERS: Record<FieldKind, Convert> = {
  duration: (value) => {
    const ms = typeof value === "string" ? parseDuration(value) : undefined
    return ms === undefined
      ? { wrong: `expected a duration such as "5s", "1m" or "1h 30m"${withUnit(value)}` }
      : { value: ms }
  },
  size: (value) => {
    if (typeof value !== "string") return { value }
    const bytes = parseSize(value)
    return bytes === undefined
      ? { wrong: 'expected a number of bytes or a size such as "16 KiB" or "5 MiB"' }
      : { value: bytes }
  },
  path: (value, place) => ({
    value: typeof value === "string" && value !== "" ? absolute(value, place) : value,
  }),
  url: checked((text) => {
    const url = URL.parse(text)
    return url !== null && (url.protocol === "http:" || url.protocol === "https:")
  }, "expected an address that begins with http:// or https://"),
  origin: checked(
    (text) => URL.parse(text)?.origin === text,
    "expected an origin without a path, such as https://eva.example.org",
  ),
  listen: checked(
    (text) => parseListen(text) !== undefined,
    'expected ADDRESS:PORT, such as "127.0.0.1:8090" or "[::1]:8090"',
  ),
  zone: checked(isZone, "expected an IANA time zone such as Europe/Berlin"),
  time: checked(
    (text) => /^([01]\d|2[0-3]):[0-5]\d$/.test(text),
    'expected a time of day as HH:MM, such as "03:30"',
  ),
  pattern: (value) => {
    if (typeof value !== "string") return { value }
    try {
      new RegExp(value, "u")
      return { value }
    } catch (error) {
      return { wrong: errorText(error) }
    }
  },
  // Booleans are the older spelling; as text they come from the environment.
  effort: (value) => ({
    value: String(value) === "true" ? "mid" : String(value) === "false" ? "off" : value,
  }),
}

function checked(fits: (text: string) => boolean, wrong: string): Convert {
  return (value) => (typeof value !== "string" || fits(value) ? { value } : { wrong })
}

const withUnit = (value: unknown): string =>
  typeof value === "number" ? `; ${value} seconds are "${value}s"` : ""

const SIZE_UNITS: Record<string, number> = {
  b: 1,
  kib: 1024,
  mib: 1024 ** 2,
  gib: 1024 ** 3,
  kb: 1000,
  mb: 1000 ** 2,
  gb: 1000 ** 3,
}

/** Bytes, or undefined when the text is no size. `16 KiB` is 16384, `16 kB` is 16000. */
export function parseSize(text: string): number | undefined {
  const [, amount, unit = "b"] = /^(\d+)\s*([a-z]+)?$/i.exec(text.trim()) ?? []
  const factor = SIZE_UNITS[unit.toLowerCase()]
  return amount === undefined || factor === undefined ? undefined : Number(amount) * factor
}

function absolute(path: string, place: Place): string {
  if (path.startsWith("~/") && place.home) return resolve(place.home, path.slice(2))
  return resolve(place.directory, path)
}

function isZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name })
    // Fixed offsets are accepted by Intl, yet no zone has them all year.
    return !/^[+-]/.test(name)
  } catch {
    return false
  }
}
