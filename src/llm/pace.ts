/**
 * How fast one upstream may be asked, shared by all chats that use it. While it is content nobody waits. Once
 * it says that it is asked too often, requests leave one by one: none before the time it named, and further
 * apart each time it complains again.
 */
import type { Clock } from "../lib/clock.ts"

export type Sleep = (ms: number, signal?: AbortSignal) => Promise<void>

export interface Pace {
  /** How long a request that comes now will probably wait, milliseconds. */
  expectedWaitMs(): number
  /** Resolves when a request may leave, or when the signal fires. */
  enter(signal: AbortSignal): Promise<void>
  /** The upstream was asked too often; nobody asks before `retryAfterMs` are over. */
  limited(retryAfterMs?: number): void
  /** The upstream answered: the distance shrinks. */
  succeeded(): void
}

const FIRST_SPACING_MS = 250
const MAX_SPACING_MS = 10_000
/** A distance below this is no distance. */
const MIN_SPACING_MS = 50
/** Faster apart than together again: the limit is then touched only now and then. */
const GROWTH = 2
const DECAY = 0.8

export function createPace(deps: { clock: Clock; sleep: Sleep; random: () => number }): Pace {
  const now = () => deps.clock.monotonic()
  let notBefore = 0
  let spacing = 0
  let nextStart = 0
  let lastGrowth = Number.NEGATIVE_INFINITY
  let waiting = 0
  let lastInLine: Promise<void> = Promise.resolve()

  const earliest = (): number => Math.max(notBefore, spacing > 0 ? nextStart : 0)

  /** Only the first in line looks at the time, so a new complaint is heard by all behind it. */
  const waitAtHead = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted && earliest() > now()) await deps.sleep(earliest() - now(), signal)
    // Uneven distances keep several kernels from marching in step.
    if (!signal.aborted) nextStart = now() + spacing * (0.75 + deps.random() / 2)
  }

  const enter: Pace["enter"] = async (signal) => {
    if (waiting === 0 && spacing === 0 && notBefore <= now()) return
    waiting++
    const turn = lastInLine.then(() => waitAtHead(signal))
    lastInLine = turn
    await firstOf(turn, signal)
    waiting--
  }

  return {
    enter,
    expectedWaitMs: () => Math.max(0, earliest() - now()) + waiting * spacing,
    limited: (retryAfterMs = 0) => {
      notBefore = Math.max(notBefore, now() + retryAfterMs)
      // Many complaints about one burst are one complaint.
      if (now() - lastGrowth < spacing) return
      lastGrowth = now()
      spacing = Math.min(MAX_SPACING_MS, Math.max(FIRST_SPACING_MS, spacing * GROWTH))
    },
    succeeded: () => {
      spacing = spacing * DECAY < MIN_SPACING_MS ? 0 : spacing * DECAY
    },
  }
}

/** The turn, or the signal: whoever leaves the line early must not wait for those ahead. */
async function firstOf(turn: Promise<void>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  const { promise, resolve } = Promise.withResolvers<void>()
  const leave = () => resolve()
  signal.addEventListener("abort", leave, { once: true })
  await Promise.race([turn, promise])
  signal.removeEventListener("abort", leave)
}
