/** Waits on the network with a limit and a cancel: whichever comes first ends the wait, whatever the socket does. */
import { systemClock } from "../lib/clock.ts"

export class WaitInterrupted extends Error {
  override readonly name = "WaitInterrupted"
  readonly reason: "cancelled" | "stalled"

  constructor(reason: "cancelled" | "stalled", message: string) {
    super(message)
    this.reason = reason
  }
}

export interface Wait {
  /** Settles like the work, or rejects with WaitInterrupted; the work itself is then left to its own end. */
  on<T>(work: Promise<T>): Promise<T>
  /** Something arrived: the limit starts anew, or becomes another one. Time outside `on` does not count. */
  renew(limitMs?: number, what?: string): void
  /** Lets go of the signal. */
  close(): void
}

const TIMER_MAX_MS = 2 ** 31 - 1

/** `what` names the silence in the message: "no first token". */
export function createWait(signal: AbortSignal, limitMs: number, what: string): Wait {
  let limit = limitMs
  let name = what
  let left = limitMs
  let interrupt: ((reason: WaitInterrupted) => void) | undefined

  const cancelled = () => new WaitInterrupted("cancelled", "the request was cancelled")
  const stalled = () => new WaitInterrupted("stalled", `${name} for ${limit / 1000} s`)
  const onAbort = () => interrupt?.(cancelled())
  signal.addEventListener("abort", onAbort)

  const on = <T>(work: Promise<T>): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      // The timer is a real one, so the time is too: an injected clock may stand still.
      const start = systemClock.monotonic()
      const timer = setTimeout(
        () => interrupt?.(stalled()),
        Math.min(Math.max(0, left), TIMER_MAX_MS),
      )
      const settle = (): void => {
        clearTimeout(timer)
        left -= systemClock.monotonic() - start
        interrupt = undefined
      }
      interrupt = (reason) => {
        settle()
        reject(reason)
      }
      work.then(
        (value) => {
          settle()
          resolve(value)
        },
        (thrown) => {
          settle()
          reject(signal.aborted ? cancelled() : thrown)
        },
      )
      if (signal.aborted) interrupt(cancelled())
    })

  const renew = (nextMs = limit, nextName = name): void => {
    limit = nextMs
    left = nextMs
    name = nextName
  }

  return { on, renew, close: () => signal.removeEventListener("abort", onAbort) }
}
