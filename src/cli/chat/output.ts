/** Writes to stdout or stderr in order and without waiting; tells when nobody reads any more. */

export interface Output {
  write(text: string): void
  /** Resolves when everything is written or nobody reads it. */
  flush(): Promise<void>
}

/** `put` is `say` or `complain`. `onClosed` is called once when the reader has gone, as `| head` does. */
export function createOutput(
  put: (text: string) => Promise<void>,
  onClosed: () => void = () => {},
): Output {
  let waiting = ""
  let writing: Promise<void> | undefined
  let closed = false

  const drain = async () => {
    while (waiting !== "" && !closed) {
      const text = waiting
      waiting = ""
      await put(text).catch(() => {
        closed = true
        onClosed()
      })
    }
    writing = undefined
  }

  return {
    write: (text) => {
      if (closed) return
      waiting += text
      writing ??= drain()
    },
    flush: async () => {
      for (let pending = writing; pending !== undefined; pending = writing) await pending
    },
  }
}
