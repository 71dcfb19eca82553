/** The only place that reads the wall clock. Everything else is handed a Clock. */

export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number
  /** Monotonic milliseconds, for durations. */
  monotonic(): number
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
}

/**
 * A clock that moves only when told to: for tests and for replays. `advance` lets time pass, `set` puts the
 * wall clock elsewhere, as an administrator does: no time passes by that.
 */
export function manualClock(
  startMs = 0,
): Clock & { advance(ms: number): void; set(ms: number): void } {
  let wall = startMs
  let passed = 0
  return {
    now: () => wall,
    monotonic: () => passed,
    advance: (ms) => {
      wall += ms
      passed += ms
    },
    set: (ms) => {
      wall = ms
    },
  }
}

/** ISO 8601 in UTC with milliseconds: the form of every instant on a wire. */
export const isoTime = (ms: number): string => new Date(ms).toISOString()
