/** The newest events, bounded by count and by size, from which a client that was away resumes. */

/** Numbered without a gap; the size is that of its JSON. */
interface Entry {
  seq: number
  json: string
}

export interface EventLogLimits {
  maxEvents: number
  /** UTF-16 units of JSON. */
  maxChars: number
}

export function createEventLog<E extends Entry>({ maxEvents, maxChars }: EventLogLimits) {
  /** What stands before `start` has left the log and waits to be cut off. */
  let entries: E[] = []
  let start = 0
  let chars = 0

  const add = (entry: E): void => {
    entries.push(entry)
    chars += entry.json.length
    while (entries.length - start > maxEvents || chars > maxChars) {
      chars -= entries[start++]!.json.length
    }
    // Cut off only when half of it is gone: each entry is moved once on average.
    if (start <= entries.length / 2) return
    entries = entries.slice(start)
    start = 0
  }

  return {
    add,
    /** What came after `seq`, oldest first; undefined when some of it is no longer here. */
    after: (seq: number): E[] | undefined => {
      const oldest = entries[start]
      if (!oldest || seq < oldest.seq - 1) return undefined
      return entries.slice(start + (seq + 1 - oldest.seq))
    },
  }
}
