/** Turns pass here before they run: open by day, closed while the kernel sleeps. */

export type SleepGate = ReturnType<typeof createGate>

export function createGate(now: () => number) {
  let isClosed = false
  let inside = 0
  let quietSince = now()
  const waiting = new Set<() => void>()
  const leaving = new Set<() => void>()

  const leave = (): void => {
    inside--
    quietSince = now()
    if (inside > 0) return
    for (const told of leaving) told()
    leaving.clear()
  }

  return {
    isClosed: (): boolean => isClosed,
    /** How many turns run. */
    inside: (): number => inside,
    /** When the last turn ended, or the kernel began. */
    quietSince: (): number => quietSince,
    close: (): void => {
      isClosed = true
    },
    open: (): void => {
      isClosed = false
      for (const wake of waiting) wake()
      waiting.clear()
    },
    /** Settles when no turn runs, or the signal fires. */
    empty: (signal: AbortSignal): Promise<void> =>
      inside === 0 || signal.aborted ? Promise.resolve() : until(leaving, signal),
    /**
     * Waits while the gate is closed, at most until the signal fires; gives the function that says the turn is
     * over. `onWait` is called when it has to wait.
     */
    enter: async (onWait: () => void, signal: AbortSignal): Promise<() => void> => {
      if (isClosed && !signal.aborted) onWait()
      while (isClosed && !signal.aborted) await until(waiting, signal)
      inside++
      return leave
    },
  }
}

function until(told: Set<() => void>, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const wake = (): void => {
    told.delete(wake)
    signal.removeEventListener("abort", wake)
    resolve()
  }
  told.add(wake)
  signal.addEventListener("abort", wake, { once: true })
  return promise
}
