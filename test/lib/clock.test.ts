import { expect, test } from "bun:test"
import packageJson from "../../package.json"
import { commit, version } from "../../src/lib/build-info.ts"
import { isoTime, manualClock, systemClock } from "../../src/lib/clock.ts"

test("the system's clock tells the time of day, and one that never goes back", () => {
  const [before, now, after] = [Date.now(), systemClock.now(), Date.now()]
  expect([before, now, after]).toEqual([before, now, after].sort((a, b) => a - b))
  const first = systemClock.monotonic()
  expect(systemClock.monotonic()).toBeGreaterThanOrEqual(first)
})

test("a manual clock moves only when told to, and setting it back takes no time", () => {
  const clock = manualClock(1000)
  expect([clock.now(), clock.now()]).toEqual([1000, 1000])
  const start = clock.monotonic()
  clock.advance(250)
  expect([clock.now(), clock.monotonic() - start]).toEqual([1250, 250])
  clock.set(10)
  expect([clock.now(), clock.monotonic() - start]).toEqual([10, 250])
})

test("an instant on a wire is ISO 8601 in UTC with milliseconds", () => {
  expect(isoTime(0)).toBe("1970-01-01T00:00:00.000Z")
  expect(isoTime(Date.UTC(2026, 0, 31, 12, 0, 0, 7))).toBe("2026-01-31T12:00:00.007Z")
})

test("run from its sources, the build is the package's version without a commit", () => {
  expect([version, commit]).toEqual([packageJson.version, "dev"])
})
