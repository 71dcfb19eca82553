/** The newest emissions, bounded by count and by size, from which a client that was away resumes. */
import type { Emission } from "./bus.ts"

export interface EventLogLimits {
  maxEvents: number
  /** UTF-16 units of JSON. */
  maxChars: number
}

export function createEventLog({ maxEvents, maxChars }: EventLogLimits) {
  /** What stands before `start` has left the log and waits to be cut off. */
  let entries: Emission[] = []
  let start = 0
  let chars = 0

  const add = (emission: Emission): void => {
    entries.push(emission)
    chars += emission.json.length
    while (entries.length - start > maxEvents || chars > maxChars) {
      chars -= entries[start++]!.json.length
    }
    // Cut off only when half of it is gone: each entry is moved once on average.
    if (start <= entries.length / 2) return
    entries = entries.slice(start)
    start = 0
  }

  return {
    /** The numbers of neighbours differ by one. */
    add,
    /** What came after `seq`, oldest first; undefined when some of it is no longer here. */
    after: (seq: number): Emission[] | undefined => {
      const oldest = entries[start]
      if (!oldest || seq < oldest.seq - 1) return undefined
      return entries.slice(start + (seq + 1 - oldest.seq))
    },
  }
}
