/**
 * Rows of spend and triage. Sums over many rows are SQL texts for the reader in its worker; what the hot path
 * asks is answered here from the index or from the rows that came since the last question.
 */
import type { Database } from "bun:sqlite"
import type { TriageStats } from "../schema/stats.ts"

/** One trip to a provider. Money in millionths of a dollar. */
export interface TripRow {
  at: number
  chat_id: string | null
  turn_id: string | null
  run_id: string | null
  source: string
  model: string
  prompt_tokens: number
  completion_tokens: number
  reasoning_tokens: number
  cached_tokens: number
  cache_write_tokens: number
  cost_micros: number | null
  reasoning_cost_micros: number | null
}

/** The sum of all trips of one model for one source. */
export interface SumRow
  extends Pick<
    TripRow,
    | "source"
    | "model"
    | "prompt_tokens"
    | "completion_tokens"
    | "reasoning_tokens"
    | "cached_tokens"
    | "cache_write_tokens"
    | "cost_micros"
    | "reasoning_cost_micros"
  > {
  requests: number
  unpriced_requests: number
}

const SUMS = `SELECT model, source, count(*) AS requests,
  sum(cost_micros IS NULL) AS unpriced_requests,
  sum(cost_micros) AS cost_micros, sum(reasoning_cost_micros) AS reasoning_cost_micros,
  sum(prompt_tokens) AS prompt_tokens, sum(completion_tokens) AS completion_tokens,
  sum(reasoning_tokens) AS reasoning_tokens, sum(cached_tokens) AS cached_tokens,
  sum(cache_write_tokens) AS cache_write_tokens
  FROM spend`

/** Values: from, to. */
export const SUMS_OF_SPAN = `${SUMS} WHERE at >= ? AND at < ? GROUP BY model, source`
/** Value: the chat. */
export const SUMS_OF_CHAT = `${SUMS} WHERE chat_id = ? GROUP BY model, source`
/** Values: from, to. One row of TriageStats. */
export const TRIAGE_OF_SPAN = `SELECT coalesce(sum(engaged), 0) AS engaged,
  coalesce(sum(responded), 0) AS responded FROM triage_stat WHERE at >= ? AND at < ?`

/** What is summed: the trips of a span of time, of a chat, or of a run of a scheduled job. */
export type Account = { from: number; to: number } | { chat: string } | { run: string }

export type SpendTable = ReturnType<typeof createSpendTable>

export function createSpendTable(db: Database) {
  const insert = (row: TripRow) =>
    db
      .query(
        `INSERT INTO spend (at, chat_id, turn_id, run_id, source, model, prompt_tokens,
           completion_tokens, reasoning_tokens, cached_tokens, cache_write_tokens, cost_micros,
           reasoning_cost_micros)
         VALUES ($at, $chat_id, $turn_id, $run_id, $source, $model, $prompt_tokens,
           $completion_tokens, $reasoning_tokens, $cached_tokens, $cache_write_tokens, $cost_micros,
           $reasoning_cost_micros)`,
      )
      .run({ ...row })

  const insertTriage = (at: number, { engaged, responded }: TriageStats) =>
    db
      .query("INSERT INTO triage_stat (at, engaged, responded) VALUES (?, ?, ?)")
      .run(at, engaged, responded)

  const lastId = (): number =>
    db.query<{ id: number }, []>("SELECT coalesce(max(id), 0) AS id FROM spend").get()!.id

  /** Micro-dollars of the rows of an account with `after` < id ≤ `upTo`. */
  const sumOf = (account: Account, after: number, upTo: number): number => {
    const { where, values } = condition(account, after)
    return db
      .query<{ micros: number }, (string | number)[]>(
        `SELECT coalesce(sum(cost_micros), 0) AS micros FROM spend WHERE ${where}`,
      )
      .get(...values, after, upTo)!.micros
  }

  /** The chat's newest trip that a turn made for itself, and not for a title or a tool. */
  const lastTripOf = (chatId: string) =>
    db
      .query<
        Pick<TripRow, "model" | "prompt_tokens" | "cached_tokens" | "cache_write_tokens">,
        [string]
      >(
        `SELECT model, prompt_tokens, cached_tokens, cache_write_tokens FROM spend
         JOIN turns ON turns.id = spend.turn_id AND turns.source = spend.source
         WHERE spend.chat_id = ? ORDER BY spend.id DESC LIMIT 1`,
      )
      .get(chatId)

  return { insert, insertTriage, lastId, sumOf, lastTripOf, inTransaction: () => db.inTransaction }
}

/** The sign + keeps SQLite off an index: the first sum goes by the account, a later one by the new ids. */
function condition(
  account: Account,
  after: number,
): { where: string; values: (string | number)[] } {
  if ("chat" in account)
    return { where: "chat_id = ? AND id > ? AND id <= ?", values: [account.chat] }
  if ("run" in account) return { where: "run_id = ? AND id > ? AND id <= ?", values: [account.run] }
  const where =
    after === 0
      ? "at >= ? AND at < ? AND +id > ? AND +id <= ?"
      : "+at >= ? AND +at < ? AND id > ? AND id <= ?"
  return { where, values: [account.from, account.to] }
}
