/**
 * The one stream of a client: everything the kernel tells, joined again whenever it breaks. What was missed
 * meanwhile comes by `since`; when the kernel does not know that position any more (it was started anew, or
 * too much has happened) it says `reset`.
 */
import { sleep } from "../../lib/async.ts"
import type { Clock } from "../../lib/clock.ts"
import { random } from "../../lib/id.ts"
import { MUTED } from "./chat-view.ts"
import { sentenceOf } from "./client-error.ts"
import type { KernelClient } from "./kernel-client.ts"
import { readEvents, type WireEvent } from "./read-events.ts"
import type { Connection } from "./session.ts"

export interface FeedOptions {
  client: KernelClient
  clock: Clock
  onEvent: (event: WireEvent) => void
  /** Everything must be read anew; also called at the very beginning. Later events come after it. */
  onReset: () => void
  /** `version` is the kernel's, given when the connection is live. */
  onConnection: (connection: Connection, version?: string) => void
  /** Finds the kernel again, when it may have moved. */
  relocate?: (() => Promise<void>) | undefined
  silenceMs?: number | undefined
  /** Pauses before the first, second … try; the last one stays. */
  retryMs?: readonly number[] | undefined
}

const RETRY_MS = [200, 500, 1000, 2000, 4000] as const
/** Clients of one kernel must not come back in one moment. */
const JITTER = 0.2
/** Older than any kernel: the first answer is a reset. */
const NOWHERE = 0

/** Follows until the returned function is called. */
export function followFeed(options: FeedOptions): () => void {
  const closed = new AbortController()
  void follow(options, closed.signal)
  return () => closed.abort()
}

async function follow(options: FeedOptions, signal: AbortSignal): Promise<void> {
  const { clock, onConnection, relocate, retryMs = RETRY_MS } = options
  const position = { since: NOWHERE }
  let failures = 0
  while (!signal.aborted) {
    let reason = "the kernel closed the connection"
    try {
      await listen(options, position, {
        signal,
        onLive: () => {
          failures = 0
        },
      })
    } catch (error) {
      reason = sentenceOf(error)
    }
    if (signal.aborted) return
    const pause = retryMs[Math.min(failures, retryMs.length - 1)]! * (1 + JITTER * random())
    failures++
    onConnection({ state: "lost", reason, retryAtMs: Math.round(clock.now() + pause) })
    await sleep(pause, signal)
    await relocate?.().catch(() => undefined)
  }
}

async function listen(
  options: FeedOptions,
  position: { since: number },
  life: { signal: AbortSignal; onLive: () => void },
): Promise<void> {
  const { client, onEvent, onReset, onConnection, silenceMs } = options
  const response = await client.feed(
    { chats: "*", mute: MUTED, since: position.since },
    life.signal,
  )
  onConnection({ state: "live" }, response.headers.get("X-Eva-Version") ?? "")
  await readEvents(response, {
    signal: life.signal,
    silenceMs,
    onEvent: (event) => {
      life.onLive()
      if (event.seq !== undefined) position.since = event.seq
      if (event.type === "reset") onReset()
      else onEvent(event)
    },
  })
}
