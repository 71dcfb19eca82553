/** The last word of each upstream on its limits. A reading, so it lives in memory and starts empty. */
import { type Clock, isoTime } from "../lib/clock.ts"
import type { RateLimitSnapshot } from "../schema/stats.ts"
import type { RateLimit } from "../schema/usage.ts"

export interface RateLimits {
  /** Replaces what this upstream said before; an answer without such headers says nothing and is ignored. */
  set(upstream: string, limits: readonly RateLimit[]): void
  /** By name of the upstream. */
  get(): RateLimitSnapshot[]
}

export function createRateLimits(clock: Clock): RateLimits {
  const last = new Map<string, RateLimitSnapshot>()
  return {
    set: (upstream, limits) => {
      if (limits.length === 0) return
      last.set(upstream, { upstream, at: isoTime(clock.now()), limits: [...limits] })
    },
    get: () => [...last.values()].sort((a, b) => (a.upstream < b.upstream ? -1 : 1)),
  }
}
