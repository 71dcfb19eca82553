/** Where the money and the tokens went. */
import { type Static, Type } from "@sinclair/typebox"
import { RateLimit, Usage } from "./usage.ts"

const { prompt_tokens, completion_tokens, reasoning_tokens, cached_tokens, cache_write_tokens } =
  Usage.properties

export const SpendTotals = Type.Object({
  cost: Type.Number({
    description: "USD of all requests with a known price, exact to a millionth",
  }),
  requests: Type.Integer({ description: "Trips to a provider" }),
  unpriced_requests: Type.Integer({ description: "Trips without a known price: not in `cost`" }),
  prompt_tokens,
  completion_tokens,
  reasoning_tokens,
  cached_tokens,
  cache_write_tokens,
  reasoning_cost: Type.Union([Type.Number(), Type.Null()], {
    description: "USD of the thinking, a part of `cost`; null without llm.models[].price_out",
  }),
})
export type SpendTotals = Static<typeof SpendTotals>

export const ModelSpend = Type.Object({ model: Type.String(), ...SpendTotals.properties })
export type ModelSpend = Static<typeof ModelSpend>

export const SourceSpend = Type.Object({
  source: Type.String({ description: "What asked: message, cron, notes, sleep:cluster …" }),
  ...SpendTotals.properties,
})
export type SourceSpend = Static<typeof SourceSpend>

const breakdown = {
  total: SpendTotals,
  by_model: Type.Array(ModelSpend, { description: "Dearest first" }),
  by_source: Type.Array(SourceSpend, { description: "Dearest first" }),
}

export const TriageStats = Type.Object({
  engaged: Type.Integer({
    minimum: 0,
    description: "Messages that the surface found worth a turn",
  }),
  responded: Type.Integer({ minimum: 0, description: "Messages that were really answered" }),
})
export type TriageStats = Static<typeof TriageStats>

export const TriageReport = Type.Object(TriageStats.properties, { additionalProperties: false })
export type TriageReport = Static<typeof TriageReport>

export const TeamStats = Type.Object({
  spawned: Type.Integer({ description: "Sub-agents created in this window" }),
  outcomes: Type.Record(Type.String(), Type.Integer(), {
    description: "How those ended, by status",
  }),
  reported: Type.Integer({ description: "Turns of sub-agents that ended with a report" }),
  silent: Type.Integer({ description: "Turns of sub-agents that ended without one" }),
})
export type TeamStats = Static<typeof TeamStats>

export const StatsWindow = Type.Object({
  from: Type.String({ format: "date-time", description: "First instant of the window" }),
  ...breakdown,
  team: TeamStats,
  triage: TriageStats,
})
export type StatsWindow = Static<typeof StatsWindow>

export const RateLimitSnapshot = Type.Object({
  upstream: Type.String({ description: "Name of the provider entry" }),
  at: Type.String({ format: "date-time", description: "When its headers said so" }),
  limits: Type.Array(RateLimit),
})
export type RateLimitSnapshot = Static<typeof RateLimitSnapshot>

export const RuleStats = Type.Object({ rule: Type.String(), fired: Type.Integer() })
export type RuleStats = Static<typeof RuleStats>

export const AdvisorStats = Type.Object({ verdict: Type.String(), notes: Type.Integer() })
export type AdvisorStats = Static<typeof AdvisorStats>

export const Stats = Type.Object({
  day: StatsWindow,
  week: StatsWindow,
  month: StatsWindow,
  rate_limits: Type.Array(RateLimitSnapshot),
  rules: Type.Array(RuleStats),
  advisor: Type.Array(AdvisorStats),
})
export type Stats = Static<typeof Stats>

export const StatsQuery = Type.Object({
  tz: Type.Optional(
    Type.String({ description: "IANA time zone of the calendar; absent: the master's" }),
  ),
})
export type StatsQuery = Static<typeof StatsQuery>

export const ContextWeight = Type.Object({
  tokens: Type.Integer({ description: "What the next request weighs" }),
  prefix_tokens: Type.Union([Type.Integer(), Type.Null()], {
    description:
      "The part that stays from turn to turn: persona, rules, tools; null before it is known",
  }),
})
export type ContextWeight = Static<typeof ContextWeight>

export const ChatSpend = Type.Object({ ...breakdown, context: ContextWeight })
export type ChatSpend = Static<typeof ChatSpend>
