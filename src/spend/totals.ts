/** Sums of trips as people and clients see them. */
import type { ModelSpend, SourceSpend, SpendTotals } from "../schema/stats.ts"
import type { SumRow } from "./store.ts"

const MICROS = 1_000_000

/** USD to whole millionths; null for no price, and for a figure that is no amount of money. */
export const toMicros = (usd: number | null): number | null =>
  usd !== null && Number.isFinite(usd) && usd >= 0 ? Math.round(usd * MICROS) : null

/** The nearest double to the exact amount in USD. */
export const toUsd = (micros: number): number => micros / MICROS

export interface Breakdown {
  total: SpendTotals
  by_model: ModelSpend[]
  by_source: SourceSpend[]
}

export const breakdown = (rows: readonly SumRow[]): Breakdown => ({
  total: totalsOf(rows),
  by_model: groups(rows, "model").map(([model, group]) => ({ model, ...totalsOf(group) })),
  by_source: groups(rows, "source").map(([source, group]) => ({ source, ...totalsOf(group) })),
})

/** Dearest first, then by name. */
function groups(rows: readonly SumRow[], key: "model" | "source"): [string, SumRow[]][] {
  const cost = (group: readonly SumRow[]) => sum(group, "cost_micros")
  return [...Map.groupBy(rows, (row) => row[key])].sort(
    ([a, rowsA], [b, rowsB]) => cost(rowsB) - cost(rowsA) || (a < b ? -1 : 1),
  )
}

function totalsOf(rows: readonly SumRow[]): SpendTotals {
  const knowsThoughts = rows.some((row) => row.reasoning_cost_micros !== null)
  return {
    cost: toUsd(sum(rows, "cost_micros")),
    requests: sum(rows, "requests"),
    unpriced_requests: sum(rows, "unpriced_requests"),
    prompt_tokens: sum(rows, "prompt_tokens"),
    completion_tokens: sum(rows, "completion_tokens"),
    reasoning_tokens: sum(rows, "reasoning_tokens"),
    cached_tokens: sum(rows, "cached_tokens"),
    cache_write_tokens: sum(rows, "cache_write_tokens"),
    reasoning_cost: knowsThoughts ? toUsd(sum(rows, "reasoning_cost_micros")) : null,
  }
}

const sum = (rows: readonly SumRow[], key: Exclude<keyof SumRow, "model" | "source">): number =>
  rows.reduce((total, row) => total + (row[key] ?? 0), 0)
