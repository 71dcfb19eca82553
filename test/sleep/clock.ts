/** A clock that the test moves, from an instant on. */
import { manualClock } from "../../src/lib/clock.ts"

export type ManualClock = ReturnType<typeof manualClock>

export const manualClockAt = (instant: string): ManualClock => manualClock(Date.parse(instant))
