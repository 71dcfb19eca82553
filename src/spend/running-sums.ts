/**
 * What was spent so far, for caps that are asked before every trip. A sum is made once from the index;
 * after that only rows that came since are added, so the answer is exact and costs no scan.
 */
import { type CalendarUnit, calendarSpan, type Span } from "../lib/calendar.ts"
import type { Clock } from "../lib/clock.ts"
import type { Account, SpendTable } from "./store.ts"
import { toUsd } from "./totals.ts"

/** The calendar day or month of now, all of a chat, or all of one run of a scheduled job. */
export type SpendScope = "day" | "month" | { chat: string } | { run: string }

/** How many sums are remembered; the one asked longest ago leaves first. */
const SUMS_MAX = 1000

interface Sum {
  micros: number
  /** Rows up to this id are in it. */
  upTo: number
}

export function createRunningSums({ table, clock }: { table: SpendTable; clock: Clock }) {
  const sums = new Map<string, Sum>()
  const spans = new Map<string, Span>()

  const current = (unit: CalendarUnit, zone: string): Span => {
    const now = clock.now()
    const known = spans.get(`${unit} ${zone}`)
    if (known && known.from <= now && now < known.to) return known
    const span = calendarSpan(unit, now, zone)
    spans.set(`${unit} ${zone}`, span)
    return span
  }

  /** USD. */
  const spentSince = (scope: SpendScope, zone: string): number => {
    const account: Account = typeof scope === "string" ? current(scope, zone) : scope
    const key = JSON.stringify(account)
    const known = sums.get(key) ?? { micros: 0, upTo: 0 }
    const upTo = table.lastId()
    const added = upTo > known.upTo ? table.sumOf(account, known.upTo, upTo) : 0
    const sum = { micros: known.micros + added, upTo }
    // Rows of an open transaction may still be undone and their ids given to others.
    if (!table.inTransaction()) remember(key, sum)
    return toUsd(sum.micros)
  }

  const remember = (key: string, sum: Sum) => {
    sums.delete(key)
    sums.set(key, sum)
    if (sums.size > SUMS_MAX) sums.delete(sums.keys().next().value!)
  }

  return spentSince
}
