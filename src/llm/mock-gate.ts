/** A gate on the stream of a mock: a test sees each chunk before anyone else and says when it may pass. */
import { deferred } from "../lib/async.ts"
import type { ProviderEvent } from "./provider.ts"

export interface HeldChunk {
  event: ProviderEvent
  release(): void
}

export interface Gate {
  /** For the mock: resolves when the chunk may be sent, or when the signal fires. */
  pass(event: ProviderEvent, signal: AbortSignal): Promise<void>
  /** For the test: the next chunk that arrives at the gate, held there until it is released. */
  next(): Promise<HeldChunk>
  /** Lets go of all that is held and holds nothing more. */
  open(): void
}

export function createGate(): Gate {
  const held = new Set<HeldChunk>()
  const unseen: HeldChunk[] = []
  const watchers: ((chunk: HeldChunk) => void)[] = []
  let isOpen = false

  const pass = async (event: ProviderEvent, signal: AbortSignal): Promise<void> => {
    if (isOpen || signal.aborted) return
    const { promise, resolve } = deferred()
    const chunk = { event, release: () => resolve() }
    held.add(chunk)
    signal.addEventListener("abort", chunk.release, { once: true })
    const watcher = watchers.shift()
    if (watcher) watcher(chunk)
    else unseen.push(chunk)
    await promise
    signal.removeEventListener("abort", chunk.release)
    held.delete(chunk)
    if (unseen.includes(chunk)) unseen.splice(unseen.indexOf(chunk), 1)
  }

  return {
    pass,
    next: () => {
      const { promise, resolve } = deferred<HeldChunk>()
      const chunk = unseen.shift()
      if (chunk) resolve(chunk)
      else watchers.push(resolve)
      return promise
    },
    open: () => {
      isOpen = true
      for (const chunk of held) chunk.release()
    },
  }
}
