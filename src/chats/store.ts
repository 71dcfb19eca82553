/**
 * All SQL of the chats room: rows of `chats` and `messages`, and those rows of `turns` that follow a fork,
 * a cut or a clear. It knows columns, not rules.
 */
import type { Database } from "bun:sqlite"

export interface ChatRow {
  id: string
  title: string
  title_key: string
  folder: string
  surface: string | null
  project: string | null
  model: string | null
  effort: string | null
  toolset: string | null
  workdir: string | null
  workdir_on: string
  lead_chat_id: string | null
  ephemeral: number
  needs_attention: number
  attention_reason: string | null
  forked_from: string | null
  forked_at_message: string | null
  ctx_tokens: number | null
  ctx_upto: string | null
  compact_profile: string | null
  created_at: number
  updated_at: number
  deleted_at: number | null
}

/** What a chat's folded history left; long, so it is read by itself. */
export interface SummaryRow {
  summary: string | null
  summary_upto: string | null
  /** JSON list of `{at, text}`. */
  summary_verbatim: string | null
  notes_nudged_upto: string | null
  wrap_nudged_upto: string | null
}

export interface MessageRow {
  id: string
  chat_id: string
  turn_id: string | null
  role: string
  /** JSON list of blocks. */
  blocks: string
  /** JSON object of what only some messages have. */
  extra: string | null
  master: number
  created_at: number
}

export interface ChatFilter {
  deleted: boolean
  /** Exact, or a prefix when it ends in `*`. */
  folder?: string | undefined
  /** A name, or `any` for chats with and without a surface; absent means chats without one. */
  surface?: string | undefined
  project?: string | undefined
  /** Part of the title, already in lower case. */
  titleKey?: string | undefined
  /** Shelves that are left out, in the grammar of `folder`. */
  hiddenFolders: readonly string[]
}

export interface ChatPosition {
  updated_at: number
  id: string
}

type Values = Record<string, string | number | null>

const CHAT_COLUMNS = [
  ...["id", "title", "title_key", "folder", "surface", "project", "model", "effort", "toolset"],
  ...["workdir", "workdir_on", "lead_chat_id", "ephemeral", "needs_attention", "attention_reason"],
  ...["forked_from", "forked_at_message", "ctx_tokens", "ctx_upto", "compact_profile"],
  ...["created_at", "updated_at", "deleted_at"],
]
const SUMMARY_COLUMNS = [
  ...["summary", "summary_upto", "summary_verbatim", "notes_nudged_upto", "wrap_nudged_upto"],
]
const MESSAGE_COLUMNS = [
  ...["id", "chat_id", "turn_id", "role", "blocks", "extra", "master", "created_at"],
]
const CHAT = CHAT_COLUMNS.join(", ")
const MESSAGE = MESSAGE_COLUMNS.join(", ")
const slots = (columns: readonly string[]) => columns.map((column) => `$${column}`).join(", ")

/** Sorts after every id: where a walk from the newest message starts. */
export const AFTER_ALL = "~"
/** SQLite's own word for a range that is read to its end. */
export const NO_LIMIT = -1

export type ChatStore = ReturnType<typeof createChatStore>

export function createChatStore(db: Database) {
  return { ...chatQueries(db), ...messageQueries(db), ...turnQueries(db) }
}

function chatQueries(db: Database) {
  const insert = db.query(`INSERT INTO chats (${CHAT}) VALUES (${slots(CHAT_COLUMNS)})`)
  const get = db.query<ChatRow, [string]>(`SELECT ${CHAT} FROM chats WHERE id = ?`)
  const getSummary = db.query<SummaryRow, [string]>(
    `SELECT ${SUMMARY_COLUMNS.join(", ")} FROM chats WHERE id = ?`,
  )
  const touch = db.query("UPDATE chats SET updated_at = max(updated_at, $at) WHERE id = $id")
  const remove = db.query("DELETE FROM chats WHERE id = ?")
  const expired = db.query<{ id: string }, [number, number]>(
    "SELECT id FROM chats WHERE ephemeral = 1 AND updated_at <= ? ORDER BY updated_at LIMIT ?",
  )
  const dropToolset = db.query<{ id: string }, [string]>(
    "UPDATE chats SET toolset = NULL WHERE toolset = ? RETURNING id",
  )
  const oldestEphemeral = db.query<{ at: number | null }, []>(
    "SELECT min(updated_at) AS at FROM chats WHERE ephemeral = 1",
  )
  const family = db.query<{ id: string }, [string]>(
    `WITH RECURSIVE family (id, depth) AS (
       SELECT ?, 0
       UNION ALL
       SELECT chats.id, depth + 1 FROM chats JOIN family ON chats.lead_chat_id = family.id
     )
     SELECT id FROM family ORDER BY depth DESC`,
  )
  return {
    insertChat: (row: ChatRow) => insert.run({ ...row } as Values),
    chat: (id: string): ChatRow | null => get.get(id),
    summary: (id: string): SummaryRow | null => getSummary.get(id),
    /** Sets these columns; false when there is no such chat. */
    updateChat: (id: string, values: Partial<Omit<ChatRow, "id"> & SummaryRow>): boolean => {
      const changes = Object.keys(values).map((column) => `${column} = $${column}`)
      const update = db.query(`UPDATE chats SET ${changes.join(", ")} WHERE id = $id`)
      return update.run({ ...(values as Values), id }).changes > 0
    },
    /** The chat lives: it moves up in lists and is not reaped. False when there is no such chat. */
    touchChat: (id: string, at: number): boolean => touch.run({ id, at }).changes > 0,
    /** Erases the chat; its messages and turns go with it. */
    eraseChat: (id: string) => remove.run(id),
    listChats: (filter: ChatFilter, page: { limit: number; before?: ChatPosition | undefined }) => {
      const { clauses, values } = conditions(filter)
      if (page.before) {
        clauses.push("(updated_at, id) < ($before_at, $before_id)")
        Object.assign(values, { before_at: page.before.updated_at, before_id: page.before.id })
      }
      const sql = `SELECT ${CHAT} FROM chats WHERE ${clauses.join(" AND ")}
        ORDER BY updated_at DESC, id DESC LIMIT $limit`
      return db.query<ChatRow, Values>(sql).all({ ...values, limit: page.limit })
    },
    countByFolder: (filter: ChatFilter) => {
      const { clauses, values } = conditions(filter)
      const sql = `SELECT folder, count(*) AS chats FROM chats WHERE ${clauses.join(" AND ")}
        GROUP BY folder ORDER BY folder`
      return db.query<{ folder: string; chats: number }, Values>(sql).all(values)
    },
    expiredEphemeral: (before: number, limit: number): string[] =>
      expired.all(before, limit).map((row) => row.id),
    /** Takes a tool set off all chats that have it; their ids. */
    dropToolset: (name: string): string[] => dropToolset.all(name).map((row) => row.id),
    oldestEphemeralAt: (): number | null => oldestEphemeral.get()?.at ?? null,
    /** The chat and the chats of its sub-agents at every depth, deepest first. */
    family: (id: string): string[] => family.all(id).map((row) => row.id),
  }
}

function conditions(filter: ChatFilter): { clauses: string[]; values: Values } {
  const values: Values = {}
  const bind = (value: string) => {
    const name = `v${Object.keys(values).length}`
    values[name] = value
    return `$${name}`
  }
  const inFolder = (pattern: string) => {
    if (!pattern.endsWith("*")) return `folder = ${bind(pattern)}`
    const prefix = bind(pattern.slice(0, -1))
    return `substr(folder, 1, length(${prefix})) = ${prefix}`
  }
  const clauses = [`deleted_at IS ${filter.deleted ? "NOT NULL" : "NULL"}`]
  if (filter.folder !== undefined) clauses.push(inFolder(filter.folder))
  if (filter.surface === undefined) clauses.push("surface IS NULL")
  else if (filter.surface !== "any") clauses.push(`surface = ${bind(filter.surface)}`)
  if (filter.project !== undefined) clauses.push(`project = ${bind(filter.project)}`)
  if (filter.titleKey) clauses.push(`instr(title_key, ${bind(filter.titleKey)}) > 0`)
  for (const folder of filter.hiddenFolders) clauses.push(`NOT ${inFolder(folder)}`)
  return { clauses, values }
}

function messageQueries(db: Database) {
  type Range = [chatId: string, id: string, limit: number]
  const insert = db.query(`INSERT INTO messages (${MESSAGE}) VALUES (${slots(MESSAGE_COLUMNS)})`)
  const select = `SELECT ${MESSAGE} FROM messages WHERE chat_id = ?`
  const get = db.query<MessageRow, [string, string]>(`${select} AND id = ?`)
  const older = db.query<MessageRow, Range>(`${select} AND id < ? ORDER BY id DESC LIMIT ?`)
  const newer = db.query<MessageRow, Range>(`${select} AND id > ? ORDER BY id LIMIT ?`)
  const before = db.query<MessageRow, [string, string]>(`${select} AND id < ? ORDER BY id`)
  const ofTurn = db.query<MessageRow, [string, string]>(`${select} AND turn_id = ? ORDER BY id`)
  const removeFrom = db.query<{ id: string }, [string, string]>(
    "DELETE FROM messages WHERE chat_id = ? AND id >= ? RETURNING id",
  )
  const removeAll = db.query("DELETE FROM messages WHERE chat_id = ?")
  const removeEnded = db.query<{ id: string }, [string]>(
    `DELETE FROM messages WHERE chat_id = ?1 AND (turn_id IS NULL OR turn_id NOT IN
       (SELECT id FROM turns WHERE chat_id = ?1 AND state = 'running')) RETURNING id`,
  )
  return {
    insertMessage: (row: MessageRow) => insert.run({ ...row } as unknown as Values),
    message: (chatId: string, id: string): MessageRow | null => get.get(chatId, id),
    /** Strictly before the id, newest first. */
    messagesOlder: (chatId: string, id: string, limit: number) => older.all(chatId, id, limit),
    /** Strictly after the id, oldest first. */
    messagesNewer: (chatId: string, id: string, limit: number) => newer.all(chatId, id, limit),
    /** All strictly before the id, oldest first. */
    messagesBefore: (chatId: string, id: string) => before.all(chatId, id),
    messagesOfTurn: (chatId: string, turnId: string) => ofTurn.all(chatId, turnId),
    /** Erases the message and everything later; gives the ids of what went, oldest first. */
    eraseMessagesFrom: (chatId: string, id: string): string[] =>
      removeFrom
        .all(chatId, id)
        .map((row) => row.id)
        .sort(),
    eraseMessages: (chatId: string) => removeAll.run(chatId),
    /** Those of no running turn; gives their number. */
    eraseEndedMessages: (chatId: string): number => removeEnded.all(chatId).length,
  }
}

function turnQueries(db: Database) {
  const excluded = db.query<{ id: string }, [string]>(
    "SELECT id FROM turns WHERE chat_id = ? AND excluded = 1",
  )
  const running = db.query<{ id: string }, [string]>(
    "SELECT id FROM turns WHERE chat_id = ? AND state = 'running'",
  )
  // A branch cannot wait for what runs in its parent: an unfinished turn counts as cancelled there. The
  // client key stays behind, for a repeat of that send belongs to the parent.
  const copy = db.query(
    `INSERT INTO turns (id, chat_id, source, state, excluded, error_code, error, created_at, ended_at)
     SELECT $to, $chat, source, iif(ended_at IS NULL, 'cancelled', state), excluded, error_code, error,
       created_at, coalesce(ended_at, $now)
     FROM turns WHERE id = $from`,
  )
  const removeFrom = db.query(
    `DELETE FROM turns WHERE chat_id = $chat
       AND id IN (SELECT turn_id FROM messages WHERE chat_id = $chat AND id >= $from)
       AND id NOT IN (SELECT turn_id FROM messages
         WHERE chat_id = $chat AND id < $from AND turn_id IS NOT NULL)`,
  )
  const removeAll = db.query("DELETE FROM turns WHERE chat_id = ?")
  const removeEnded = db.query("DELETE FROM turns WHERE chat_id = ? AND state <> 'running'")
  return {
    excludedTurns: (chatId: string): Set<string> =>
      new Set(excluded.all(chatId).map((row) => row.id)),
    runningTurns: (chatId: string): Set<string> =>
      new Set(running.all(chatId).map((row) => row.id)),
    copyTurn: (turn: { from: string; to: string; chat: string; now: number }) => copy.run(turn),
    /** Erases the turns whose messages all lie at or after the id; to be called before those go. */
    eraseTurnsFrom: (chat: string, from: string) => removeFrom.run({ chat, from }),
    eraseTurns: (chatId: string) => removeAll.run(chatId),
    eraseEndedTurns: (chatId: string) => removeEnded.run(chatId),
  }
}
