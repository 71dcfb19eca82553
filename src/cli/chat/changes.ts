/** Who wants to know of changes, told once for all changes of a tick. */

export function createChanges<Key>() {
  const listeners = new Set<(changed: ReadonlySet<Key>) => void>()
  let changed = new Set<Key>()

  const tell = () => {
    const told = changed
    changed = new Set()
    for (const listener of listeners) listener(told)
  }

  return {
    add: (keys: readonly Key[]): void => {
      if (changed.size === 0 && keys.length > 0) setImmediate(tell)
      for (const key of keys) changed.add(key)
    },
    subscribe: (listener: (changed: ReadonlySet<Key>) => void): (() => void) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
