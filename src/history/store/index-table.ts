/** The writing side of the index: what waits for it, what is in it, and the merging of its parts. */
import type { Database } from "bun:sqlite"

export interface PendingRow {
  message_id: string
  chat_id: string
  /** JSON list of blocks. */
  blocks: string
}

export type IndexTable = ReturnType<typeof createIndexTable>

export function createIndexTable(db: Database) {
  const waiting = db.query<PendingRow, [number]>(
    `SELECT p.message_id, p.chat_id, m.blocks FROM history_pending p
       JOIN messages m ON m.chat_id = p.chat_id AND m.id = p.message_id
     ORDER BY p.message_id, p.chat_id LIMIT ?`,
  )
  const settle = db.query("DELETE FROM history_pending WHERE message_id = ? AND chat_id = ?")
  const addDoc = db.query<{ id: number }, [string, string]>(
    "INSERT INTO history_docs (chat_id, message_id) VALUES (?, ?) RETURNING id",
  )
  const addEntry = db.query("INSERT INTO history_index (rowid, said) VALUES (?, ?)")
  const mergeStep = db.query("INSERT INTO history_index (history_index, rank) VALUES ('merge', ?)")
  const changes = db.query<{ total: number }, []>("SELECT total_changes() AS total")
  const sweepDue = db.query<{ found: number }, []>(
    "SELECT EXISTS (SELECT 1 FROM kernel_meta WHERE key = 'history_sweep') AS found",
  )
  const sweepDone = db.query("DELETE FROM kernel_meta WHERE key = 'history_sweep'")
  return {
    /** Oldest first. */
    waiting: (limit: number): PendingRow[] => waiting.all(limit),
    /** The message waits no more; texts that are empty get no entry. */
    add: (row: PendingRow, folded: { speech: string; service: string }): void => {
      settle.run(row.message_id, row.chat_id)
      if (folded.speech === "" && folded.service === "") return
      const { id } = addDoc.get(row.chat_id, row.message_id)!
      if (folded.speech !== "") addEntry.run(2 * id, folded.speech)
      if (folded.service !== "") addEntry.run(2 * id + 1, folded.service)
    },
    /**
     * Merges parts of the index, about so many pages of it; a negative number begins to merge all into one.
     * False when there is nothing left to merge.
     */
    merge: (pages: number): boolean => {
      const before = changes.get()!.total
      mergeStep.run(pages)
      // By SQLite's documentation: fewer than two changes mean that nothing was done.
      return changes.get()!.total - before >= 2
    },
    sweepDue: (): boolean => sweepDue.get()!.found === 1,
    sweepDone: (): void => {
      sweepDone.run()
    },
  }
}
