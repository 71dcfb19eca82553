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

/** Waits for the promise at most `ms`; false when time ran out. The promise itself goes on. */
export async function settledWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  const { promise: limit, resolve } = deferred<boolean>()
  const timer = setTimeout(() => resolve(false), ms)
  const settled = promise.then(
    () => true,
    () => true,
  )
  const result = await Promise.race([settled, limit])
  clearTimeout(timer)
  return result
}

/** Runs the work of one key strictly one after another; different keys run side by side. */
export function keyedQueue<K>(): {
  run<T>(key: K, work: () => Promise<T>): Promise<T>
  /** How many works of this key wait or run. */
  depth(key: K): number
} {
  const tails = new Map<K, { promise: Promise<unknown>; depth: number }>()
  return {
    depth: (key) => tails.get(key)?.depth ?? 0,
    run: (key, work) => {
      const entry = tails.get(key) ?? { promise: Promise.resolve(), depth: 0 }
      tails.set(key, entry)
      entry.depth++
      const result = entry.promise.then(work, work)
      entry.promise = result
        .catch(() => undefined)
        .finally(() => {
          entry.depth--
          if (entry.depth === 0) tails.delete(key)
        })
      return result
    },
  }
}
