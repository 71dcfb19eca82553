/** Waiting with an owner, a limit and a cancel. */

/** A promise with its levers outside. */
export function deferred<T = void>(): {
  promise: Promise<T>
  resolve: (value: T) => void
  reject: (reason: unknown) => void
} {
  return Promise.withResolvers<T>()
}

const TIMER_MAX_MS = 60_000

/**
 * Resolves after `ms`, or at once (without throwing) when the signal fires. Long waits are cut into
 * minutes, since one timer cannot hold more than 2^31 ms and a sleeping machine delays it.
 */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  const end = performance.now() + ms
  for (let left = ms; left > 0 && !signal?.aborted; left = end - performance.now()) {
    const { promise, resolve } = deferred()
    const timer = setTimeout(resolve, Math.min(left, TIMER_MAX_MS))
    const wake = () => resolve()
    signal?.addEventListener("abort", wake, { once: true })
    await promise
    clearTimeout(timer)
    signal?.removeEventListener("abort", wake)
  }
}

/**
 * Waits for the promise at most `ms`, and at least for what is about to settle in this tick; false when time
 * ran out. The promise itself goes on.
 */
export async function settledWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  const settled = new AbortController()
  const inTime = promise.then(
    () => true,
    () => true,
  )
  const result = await Promise.race([
    inTime,
    sleep(Math.max(1, ms), settled.signal).then(() => false),
  ])
  settled.abort()
  return result
}

/** Runs the work of one key strictly one after another; different keys run side by side. */
export function keyedQueue<K>(): {
  /** Settles as the work does, which starts whatever became of the works before it. */
  run<T>(key: K, work: () => Promise<T>): Promise<T>
  /** How many works of this key wait or run. */
  depth(key: K): number
} {
  const lines = new Map<K, { last: Promise<unknown>; depth: number }>()
  return {
    depth: (key) => lines.get(key)?.depth ?? 0,
    run: (key, work) => {
      const line = lines.get(key) ?? { last: Promise.resolve(), depth: 0 }
      lines.set(key, line)
      line.depth++
      const result = line.last.then(work).finally(() => {
        line.depth--
        if (line.depth === 0) lines.delete(key)
      })
      line.last = result.catch(() => undefined)
      return result
    },
  }
}
