/**
 * What becomes of the tool traffic in a prompt. Of closed turns once, at the entry of a turn; of the running turn
 * only by a squeeze. Pure: what is stored stays as it is.
 *
 * The form of an old exchange is settled at the entry at which it leaves the fresh window, by what was said up to
 * there, and never changes afterwards: else a write today would rewrite the head of the prompt, and the provider
 * would have to read all of it anew.
 */
import { MACHINE_TEXT } from "../schema/machine-text.ts"
import type { Message, ToolUseBlock } from "../schema/message.ts"
import { type FreshWindow, freshFrom } from "./boundary.ts"
import { type Form, freshChars, type ResultView } from "./elide.ts"
import { type Exchange, exchangesIn, type Pair } from "./exchange.ts"
import { LaterPairs } from "./supersede.ts"

export interface TrafficSettings extends ResultView {
  window: FreshWindow
  /** What becomes of closed turns' traffic that is no longer fresh. */
  past: "keep" | "stub" | "drop"
}

/** By the stored call; a pair without a form is fresh. */
export type Forms = ReadonlyMap<ToolUseBlock, Form>

export interface PastPlan {
  forms: Forms
  /** The first message with fresh traffic: everything before it stays as it is from here on. */
  boundary: number
  /** Where the boundary was at the entry of the turn before. */
  boundaryBefore: number
}

/** Of messages that all belong to closed turns. */
export function planPast(messages: readonly Message[], settings: TrafficSettings): PastPlan {
  const exchanges = exchangesIn(messages)
  const weights = exchanges.map((exchange) => weightOf(exchange, settings))
  const forms = new Map<ToolUseBlock, Form>()
  let before = 0
  let from = 0
  for (const end of turnEnds(exchanges)) {
    before = from
    from = freshFrom(weights, end, settings.window)
    const later = new LaterPairs()
    for (const pair of backwards(exchanges.slice(from, end))) {
      const form = freshForm(pair, later)
      if (form && end === exchanges.length) forms.set(pair.call, form)
    }
    for (const pair of backwards(exchanges.slice(before, from))) {
      const form = oldForm(pair, later, settings.past)
      if (form) forms.set(pair.call, form)
    }
  }
  const placeOf = (index: number): number => exchanges[index]?.at ?? messages.length
  const lastTurn = messages.findLast(({ turn_id }) => turn_id !== null)?.turn_id
  const lastTurnHadTraffic = lastTurn === exchanges.at(-1)?.turnId
  return {
    forms,
    boundary: placeOf(from),
    boundaryBefore: placeOf(lastTurnHadTraffic ? before : from),
  }
}

/**
 * Of the running turn: all but the exchanges from `keepFrom` on is old. What the turn wrote itself it remembers,
 * so its writes make no reading stale.
 */
export function planSqueeze(own: readonly Message[], keepFrom: number): Forms {
  const forms = new Map<ToolUseBlock, Form>()
  const later = new LaterPairs()
  const exchanges = exchangesIn(own)
  for (const { at, pairs } of exchanges.reverse()) {
    for (const pair of pairs.toReversed()) {
      const note = later.judge(pair, { copies: true, writes: false })
      if (at < keepFrom) forms.set(pair.call, { old: true, ...noteOf(pair, note) })
    }
  }
  return forms
}

/** Of a turn that is over, still in the window: what found nothing goes first, and what is stale is said to be. */
function freshForm(pair: Pair, later: LaterPairs): Form | undefined {
  const shown = noteOf(pair, later.judge(pair, { copies: false, writes: true }))
  return shown.note === undefined ? undefined : { old: false, ...shown }
}

function oldForm(pair: Pair, later: LaterPairs, past: TrafficSettings["past"]): Form | undefined {
  if (past === "drop") return "drop"
  const shown = noteOf(pair, later.judge(pair, { copies: true, writes: true }))
  if (past === "stub") return { old: true, ...shown }
  return shown.note === undefined ? undefined : { old: false, ...shown }
}

const noteOf = ({ result }: Pair, note: string | undefined): { note?: string } => {
  if (result.uneventful) return { note: MACHINE_TEXT.empty_result.marker }
  return note === undefined ? {} : { note }
}

const backwards = (exchanges: readonly Exchange[]): Pair[] =>
  exchanges.flatMap(({ pairs }) => pairs).reverse()

const weightOf = ({ pairs }: Exchange, view: ResultView): number =>
  pairs.reduce((sum, pair) => sum + freshChars(pair, view), 0)

/** Behind the last exchange of each turn: the turn that follows entered with these. */
function turnEnds(exchanges: readonly Exchange[]): number[] {
  const isLast = ({ turnId }: Exchange, index: number): boolean =>
    exchanges[index + 1]?.turnId !== turnId
  return exchanges.flatMap((exchange, index) => (isLast(exchange, index) ? [index + 1] : []))
}
