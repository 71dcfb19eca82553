/** The rows of admitted turns: what waits, what runs, how each ended. */
import type { Store } from "../store/open.ts"

/** `running`: admitted and not ended; whether it waits for its turn only the living kernel knows. */
export type TurnState = "running" | "done" | "failed" | "cancelled" | "interrupted"

export interface TurnRow {
  id: string
  chat_id: string
  source: string
  state: TurnState
  client_key: string | null
  excluded: number
  error_code: string | null
  error: string | null
  created_at: number
  ended_at: number | null
}

export interface TurnOutcome {
  state: "done" | "failed" | "cancelled"
  errorCode?: string
  error?: string
  /** Leave its messages out of every later prompt: the provider refused them as they stand. */
  excluded?: boolean
}

export type TurnStore = ReturnType<typeof createTurnStore>

export function createTurnStore(store: Store) {
  const { db } = store
  const insert = db.query<null, [string, string, string, string | null, number]>(
    "INSERT INTO turns (id, chat_id, source, state, client_key, created_at) VALUES (?, ?, ?, 'running', ?, ?)",
  )
  const reopen = db.query<null, [string]>(
    "UPDATE turns SET state = 'running', ended_at = NULL WHERE id = ?",
  )
  const finish = db.query<null, [TurnState, string | null, string | null, number, number, string]>(
    "UPDATE turns SET state = ?, error_code = ?, error = ?, excluded = ?, ended_at = ? WHERE id = ?",
  )
  const exclude = db.query<null, [string]>("UPDATE turns SET excluded = 1 WHERE id = ?")
  const byId = db.query<TurnRow, [string]>("SELECT * FROM turns WHERE id = ?")
  const byKey = db.query<TurnRow, [string, string, number]>(
    "SELECT * FROM turns WHERE chat_id = ? AND client_key = ? AND created_at >= ? ORDER BY id DESC LIMIT 1",
  )
  const later = db.query<{ found: number }, [string, string]>(
    "SELECT 1 AS found FROM turns WHERE chat_id = ? AND id > ? LIMIT 1",
  )

  return {
    insert: (row: {
      id: string
      chatId: string
      source: string
      clientKey: string | undefined
      at: number
    }) => insert.run(row.id, row.chatId, row.source, row.clientKey ?? null, row.at),
    /** An interrupted turn starts anew. */
    reopen: (id: string) => reopen.run(id),
    finish: (id: string, outcome: TurnOutcome, at: number) =>
      finish.run(
        outcome.state,
        outcome.errorCode ?? null,
        outcome.error ?? null,
        outcome.excluded ? 1 : 0,
        at,
        id,
      ),
    /** Leaves the messages of this turn out of every later prompt. */
    exclude: (id: string) => exclude.run(id),
    get: (id: string): TurnRow | undefined => byId.get(id) ?? undefined,
    byClientKey: (chatId: string, key: string, since: number): TurnRow | undefined =>
      byKey.get(chatId, key, since) ?? undefined,
    /** True when another turn came after this one in its chat. */
    isOvertaken: (row: TurnRow): boolean => later.get(row.chat_id, row.id) !== null,
    /** A kernel that died left these open: said once, at start. Their number. */
    interruptOpen: (at: number): number =>
      db.run("UPDATE turns SET state = 'interrupted', ended_at = ? WHERE state = 'running'", [at])
        .changes,
  }
}
