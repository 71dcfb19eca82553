/** The tool `usage_stats`: the agent looks at what it costs. */
import { type Static, Type } from "@sinclair/typebox"
import type { SpendTotals, Stats, StatsWindow } from "../schema/stats.ts"
import type { Tool } from "../tools/tool.ts"
import type { Spend } from "./spend.ts"

/** Models and sources of one line; the dearest come first. */
const NAMED_MAX = 6

const StatsInput = Type.Object(
  { tz: Type.Optional(Type.String({ description: "IANA zone; absent: the master's" })) },
  { additionalProperties: false },
)

export interface SpendToolOptions {
  spend: Pick<Spend, "stats">
  /** The master's. */
  zoneName(): string
}

export const spendTools = ({ spend, zoneName }: SpendToolOptions): Tool[] => [
  {
    name: "usage_stats",
    group: "history",
    icon: "📊",
    description:
      "Your own spend this day, week and month: money, tokens, share of thinking, sub-agents, triage.",
    input: StatsInput,
    gates: ["master_only"],
    traits: { concurrent: true },
    run: async (_context, input) => {
      const { tz = zoneName() } = input as Static<typeof StatsInput>
      return { output: statsText(await spend.stats({ zone: tz })) }
    },
  },
]

const statsText = ({ day, week, month }: Stats): string =>
  [windowText("day", day), windowText("week", week), windowText("month", month)].join("\n\n")

function windowText(name: string, window: StatsWindow): string {
  const { from, total, by_model, by_source, team, triage } = window
  const lines = [`== ${name}, since ${from}`, totalsText(total), tokensText(total)]
  if (by_model.length > 0) lines.push(`by model: ${shares(by_model, ({ model }) => model)}`)
  if (by_source.length > 0) lines.push(`by source: ${shares(by_source, ({ source }) => source)}`)
  if (triage.engaged > 0) {
    const precision = percent(triage.responded, triage.engaged)
    lines.push(`triage: engaged ${triage.engaged}, responded ${triage.responded} (${precision})`)
  }
  if (team.spawned + team.reported + team.silent > 0) {
    const outcomes = Object.entries(team.outcomes).map(([status, many]) => `${status} ${many}`)
    const ended = outcomes.length > 0 ? ` (${outcomes.join(", ")})` : ""
    lines.push(
      `team: spawned ${team.spawned}${ended}; turns reported ${team.reported}, silent ${team.silent}`,
    )
  }
  return lines.join("\n")
}

function totalsText({ cost, requests, unpriced_requests }: SpendTotals): string {
  const unpriced = unpriced_requests > 0 ? `, ${unpriced_requests} of them without a price` : ""
  return `spent ${usd(cost)}; requests ${requests}${unpriced}`
}

/** `reasoning_tokens` are a part of the completion, `cached_tokens` one of the prompt. */
function tokensText(total: SpendTotals): string {
  const { prompt_tokens, cached_tokens, completion_tokens, reasoning_tokens } = total
  const cost = total.reasoning_cost === null ? "unknown" : usd(total.reasoning_cost)
  return [
    `prompt_tokens ${prompt_tokens} (cached ${percent(cached_tokens, prompt_tokens)})`,
    `completion_tokens ${completion_tokens}`,
    `reasoning_tokens ${reasoning_tokens} (${percent(reasoning_tokens, completion_tokens)} of completion)`,
    `reasoning_cost ${cost}`,
  ].join("; ")
}

function shares<Row extends SpendTotals>(rows: readonly Row[], nameOf: (row: Row) => string) {
  const named = rows.slice(0, NAMED_MAX).map((row) => `${nameOf(row)} ${usd(row.cost)}`)
  const rest = rows.length - named.length
  return [...named, ...(rest > 0 ? [`and ${rest} more`] : [])].join(", ")
}

const usd = (amount: number): string => `$${amount.toFixed(4)}`

const percent = (part: number, whole: number): string =>
  whole === 0 ? "0 %" : `${Math.round((100 * part) / whole)} %`
