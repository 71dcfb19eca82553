import { expect, test } from "bun:test"
import fc from "fast-check"
import { formatDuration, parseDuration } from "../../src/lib/duration.ts"

test("durations are read as people write them", () => {
  expect(parseDuration("5s")).toBe(5000)
  expect(parseDuration("1m")).toBe(60_000)
  expect(parseDuration("7days")).toBe(604_800_000)
  expect(parseDuration(" 1h 30m ")).toBe(5_400_000)
  expect(parseDuration("1h30m")).toBe(5_400_000)
  for (const text of ["", "5", "s", "5 parsecs", "-5s", "1.5h", "5s!", "5s, 1m"]) {
    expect(parseDuration(text)).toBeUndefined()
  }
})

test("whole milliseconds survive writing and reading", () => {
  expect(formatDuration(0)).toBe("0s")
  expect(formatDuration(5_400_000)).toBe("1h 30m")
  fc.assert(
    fc.property(fc.nat({ max: 10 ** 12 }), (ms) => {
      expect(parseDuration(formatDuration(ms))).toBe(ms)
    }),
  )
})
