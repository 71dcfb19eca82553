/** Identifiers and the only source of randomness. */
import type { Clock } from "./clock.ts"

export type NewId = () => string

/**
 * A generator of UUIDv7 (RFC 9562, section 5.7) that is strictly increasing, also when the wall clock
 * steps back or many ids fall in one millisecond: the 12 bits `rand_a` are a counter (method 1 of
 * section 6.2) and an overflow borrows the next millisecond. `after` seeds it with the largest id
 * already stored, so that order survives a restart with a clock set back.
 */
export function uuidV7(clock: Clock, after?: string): NewId {
  let lastMs = after === undefined ? 0 : Number.parseInt(after.replaceAll("-", "").slice(0, 12), 16)
  let counter = 0xfff
  return () => {
    const now = clock.now()
    if (now > lastMs) {
      lastMs = now
      counter = 0
    } else if (counter < 0xfff) {
      counter++
    } else {
      lastMs++
      counter = 0
    }
    const time = lastMs.toString(16).padStart(12, "0")
    const step = counter.toString(16).padStart(3, "0")
    // The variant bits `10` and 62 random ones, out of a UUIDv4 that has them at the same place.
    return `${time.slice(0, 8)}-${time.slice(8)}-7${step}${crypto.randomUUID().slice(18)}`
  }
}

const SEQUENCE_DIGITS = 5

/**
 * UUIDv7s that sort right behind `parent` (itself a UUIDv7 of `uuidV7`) and before every later one: they
 * share its 48 bits of time and 12 of counter, and the top of `rand_b` counts on. So what belongs to one
 * parent stays together, however late it comes. `after` is the last id already given.
 */
export function idsWithin(parent: string, after?: string): NewId {
  const prefix = parent.slice(0, 18)
  let sequence = after === undefined ? 0 : sequenceOf(after)
  return () => {
    sequence++
    // The variant takes the top two bits of the first digit, so the sequence keeps clear of that digit.
    const digits = sequence.toString(16).padStart(SEQUENCE_DIGITS, "0")
    return `${prefix}-8${digits.slice(0, 3)}-${digits.slice(3)}${crypto.randomUUID().slice(26)}`
  }
}

const sequenceOf = (id: string): number =>
  Number.parseInt(id.slice(20, 23) + id.slice(24, 24 + SEQUENCE_DIGITS - 3), 16)

/** An unguessable UUIDv4: for what is reachable by its id alone (images). */
export const uuidV4: NewId = () => crypto.randomUUID()

/** A fraction in [0, 1): jitter and sampling. */
export const random = (): number => Math.random()

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

export const isUuid = (text: string): boolean => UUID.test(text)

const TOKEN_BYTES = 32

/** 256 random bits as 43 characters that need no quoting in a URL, a header or a shell (base64url). */
export const randomToken: NewId = () =>
  Buffer.from(crypto.getRandomValues(new Uint8Array(TOKEN_BYTES))).toString("base64url")
