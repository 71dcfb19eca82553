/** Rows of chat_plan: one a chat, since a plan is written whole. */
import type { Database } from "bun:sqlite"

export interface PlanRow {
  /** JSON list of tasks. */
  tasks: string
  last_id: number
}

export type PlanTable = ReturnType<typeof createPlanTable>

export function createPlanTable(db: Database) {
  const find = db.query<PlanRow, [string]>("SELECT tasks, last_id FROM chat_plan WHERE chat_id = ?")
  const put = db.query(
    "INSERT OR REPLACE INTO chat_plan (chat_id, tasks, last_id) VALUES ($chat_id, $tasks, $last_id)",
  )
  const remove = db.query("DELETE FROM chat_plan WHERE chat_id = ?")
  const copy = db.query(
    `INSERT INTO chat_plan (chat_id, tasks, last_id)
     SELECT $to, tasks, last_id FROM chat_plan WHERE chat_id = $from`,
  )
  return {
    find: (chatId: string): PlanRow | undefined => find.get(chatId) ?? undefined,
    put: (chat_id: string, row: PlanRow): void => {
      put.run({ chat_id, ...row })
    },
    /** False when there was none. */
    remove: (chatId: string): boolean => remove.run(chatId).changes > 0,
    copy: (from: string, to: string): void => {
      copy.run({ from, to })
    },
  }
}
