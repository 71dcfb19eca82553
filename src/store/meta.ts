/** Small facts of the kernel itself that outlive the process: latches, calibrations. */
import type { Store } from "./open.ts"

/** Undefined for a key that was never written. */
export function readMeta(store: Store, key: string): string | undefined {
  const row = store.db
    .query<{ value: string }, [string]>("SELECT value FROM kernel_meta WHERE key = ?")
    .get(key)
  return row?.value
}

export function writeMeta(store: Store, key: string, value: string): void {
  store.write(() => {
    store.db.run(
      "INSERT INTO kernel_meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
      [key, value],
    )
  })
}
