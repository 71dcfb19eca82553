/** The static, ordered list of migrations: the version of a database is the number of the last one applied. */
import initial from "./migrations/0001_initial.sql" with { type: "text" }
import checkpoints from "./migrations/0002_checkpoints.sql" with { type: "text" }
import memory from "./migrations/0003_memory.sql" with { type: "text" }
import history from "./migrations/0004_history.sql" with { type: "text" }
import skillsAndToolsets from "./migrations/0005_skills_and_toolsets.sql" with { type: "text" }
import summary from "./migrations/0006_summary.sql" with { type: "text" }
import notebook from "./migrations/0007_notebook.sql" with { type: "text" }
import plan from "./migrations/0008_plan.sql" with { type: "text" }
import historyWords from "./migrations/0009_history_words.sql" with { type: "text" }
import sleep from "./migrations/0010_sleep.sql" with { type: "text" }

export interface Migration {
  version: number
  sql: string
}

export const MIGRATIONS: readonly Migration[] = [
  { version: 1, sql: initial },
  { version: 2, sql: checkpoints },
  { version: 3, sql: memory },
  { version: 4, sql: history },
  { version: 5, sql: skillsAndToolsets },
  { version: 6, sql: summary },
  { version: 7, sql: notebook },
  { version: 8, sql: plan },
  { version: 9, sql: historyWords },
  { version: 10, sql: sleep },
]
