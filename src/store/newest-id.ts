/** The largest id that was ever given out: new ones must sort behind it, whatever the clock says now. */
import type { Store } from "./open.ts"

/** Undefined for an empty database. Index seeks only: a large file starts as fast as an empty one. */
export function newestId(store: Store): string | undefined {
  const row = store.db
    .query<{ id: string | null }, []>(
      `SELECT max(id) AS id FROM (
         SELECT max(id) AS id FROM turns
         UNION ALL SELECT max(id) FROM chats
         UNION ALL SELECT (SELECT max(id) FROM messages WHERE chat_id = recent.id)
           FROM (SELECT id FROM chats ORDER BY updated_at DESC LIMIT 16) AS recent
       )`,
    )
    .get()
  return row?.id ?? undefined
}
