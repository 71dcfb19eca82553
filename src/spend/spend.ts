/**
 * Where the money goes: one row per trip to a provider, written with the facts that it paid for, and the sums
 * that people, clients and budgets ask for.
 */
import { type CalendarUnit, calendarSpan, isTimeZone, type Span } from "../lib/calendar.ts"
import { type Clock, isoTime } from "../lib/clock.ts"
import { KernelError } from "../lib/error.ts"
import type { LastTrip } from "../schema/context-report.ts"
import type {
  AdvisorStats,
  ChatSpend,
  ContextWeight,
  RuleStats,
  Stats,
  StatsWindow,
  TeamStats,
  TriageReport,
  TriageStats,
} from "../schema/stats.ts"
import type { PaidTrip } from "../schema/usage.ts"
import type { Store } from "../store/open.ts"
import type { Reader } from "../store/reader.ts"
import { createRateLimits, type RateLimits } from "./rate-limits.ts"
import { createRunningSums, type SpendScope } from "./running-sums.ts"
import {
  createSpendTable,
  SUMS_OF_CHAT,
  SUMS_OF_SPAN,
  type SumRow,
  TRIAGE_OF_SPAN,
  type TripRow,
} from "./store.ts"
import { breakdown, toMicros } from "./totals.ts"

/** What other rooms add to the statistics. */
export interface StatsBlocks {
  team?: (span: Span) => Promise<TeamStats>
  rules?: () => Promise<RuleStats[]>
  advisor?: () => Promise<AdvisorStats[]>
}

export interface SpendOptions extends StatsBlocks {
  store: Store
  reader: Reader
  clock: Clock
}

export interface Spend {
  /** Writes one trip. Synchronous: it belongs into the transaction that stores what the trip brought. */
  record(trip: PaidTrip): void
  /** All of a chat's trips; `context` weighs its next request. */
  ofChat(chatId: string, context: ContextWeight): Promise<ChatSpend>
  /** What the provider counted for the newest request of the chat's turns; null before the first. */
  lastTrip(chatId: string): LastTrip | null
  /** The calendar day, week and month of now in an IANA zone. Throws KernelError("invalid") on `tz`. */
  stats(query: { zone: string }): Promise<Stats>
  /** USD spent so far; exact and without a scan, for caps before a trip. `zone` sets day and month. */
  spentSince(scope: SpendScope, zone: string): number
  /** Adds the verdict of a surface on one batch of messages. */
  triage(report: TriageReport): void
  readonly rateLimits: RateLimits
}

export function createSpend(options: SpendOptions): Spend {
  const { store, reader, clock } = options
  const table = createSpendTable(store.db)
  const rateLimits = createRateLimits(clock)
  return {
    rateLimits,
    record: (trip) => {
      table.insert(rowOf(trip, clock.now()))
    },
    ofChat: async (chatId, context) => ({
      ...breakdown(await reader.all<SumRow>(SUMS_OF_CHAT, [chatId])),
      context,
    }),
    lastTrip: (chatId) => {
      const trip = table.lastTripOf(chatId)
      return trip && { ...trip, cached_share: trip.cached_tokens / Math.max(1, trip.prompt_tokens) }
    },
    stats: ({ zone }) => stats({ ...options, rateLimits }, zone),
    spentSince: createRunningSums({ table, clock }),
    triage: (report) => store.write(() => void table.insertTriage(clock.now(), report)),
  }
}

/** Counts come from a provider: what is no count must not undo the transaction that keeps its answer. */
const count = (tokens: number): number =>
  Number.isFinite(tokens) ? Math.max(0, Math.round(tokens)) : 0

function rowOf({ usage, ...trip }: PaidTrip, at: number): TripRow {
  return {
    at,
    chat_id: trip.chatId ?? null,
    turn_id: trip.turnId ?? null,
    run_id: trip.runId ?? null,
    source: trip.source,
    model: trip.model,
    prompt_tokens: count(usage.prompt_tokens),
    completion_tokens: count(usage.completion_tokens),
    reasoning_tokens: count(usage.reasoning_tokens),
    cached_tokens: count(usage.cached_tokens),
    cache_write_tokens: count(usage.cache_write_tokens),
    cost_micros: toMicros(usage.cost),
    reasoning_cost_micros: toMicros(trip.reasoningCost),
  }
}

interface Parts extends SpendOptions {
  rateLimits: RateLimits
}

async function stats(parts: Parts, zone: string): Promise<Stats> {
  if (!isTimeZone(zone)) {
    throw new KernelError(
      "invalid",
      `"${zone}" is no time zone that is known here: give an IANA name such as Europe/Berlin`,
      { path: "tz" },
    )
  }
  const now = parts.clock.now()
  const window = (unit: CalendarUnit) => windowOf(parts, calendarSpan(unit, now, zone))
  const [day, week, month, rules = [], advisor = []] = await Promise.all([
    window("day"),
    window("week"),
    window("month"),
    parts.rules?.(),
    parts.advisor?.(),
  ])
  return { day, week, month, rate_limits: parts.rateLimits.get(), rules, advisor }
}

async function windowOf({ reader, team }: Parts, span: Span): Promise<StatsWindow> {
  const values = [span.from, span.to]
  const [rows, triage, teamStats = noTeam()] = await Promise.all([
    reader.all<SumRow>(SUMS_OF_SPAN, values),
    reader.all<TriageStats>(TRIAGE_OF_SPAN, values),
    team?.(span),
  ])
  return { from: isoTime(span.from), ...breakdown(rows), team: teamStats, triage: triage[0]! }
}

const noTeam = (): TeamStats => ({ spawned: 0, outcomes: {}, reported: 0, silent: 0 })
