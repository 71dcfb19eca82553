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
import { TrafficIndex } from "./supersede.ts"

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
  const traffic = new NumberedTraffic()
  let before = 0
  let from = 0
  for (const end of turnEnds(exchanges)) {
    for (const exchange of exchanges.slice(traffic.count, end)) traffic.add(exchange)
    before = from
    from = freshFrom(weights, end, settings.window)
    for (const exchange of exchanges.slice(before, from)) traffic.settleOld(exchange, settings.past)
  }
  for (const exchange of exchanges.slice(from)) traffic.settleFresh(exchange)
  const placeOf = (index: number): number => exchanges[index]?.at ?? messages.length
  const lastTurn = messages.findLast(({ turn_id }) => turn_id !== null)?.turn_id
  const lastTurnHadTraffic = lastTurn === exchanges.at(-1)?.turnId
  return {
    forms: traffic.forms,
    boundary: placeOf(from),
    boundaryBefore: placeOf(lastTurnHadTraffic ? before : from),
  }
}

/**
 * Of the running turn: all but the exchanges from `keepFrom` on is old. What the turn wrote itself it remembers,
 * so its writes make no reading stale.
 */
export function planSqueeze(own: readonly Message[], keepFrom: number): Forms {
  const exchanges = exchangesIn(own)
  const traffic = new NumberedTraffic()
  for (const exchange of exchanges) traffic.add(exchange)
  for (const exchange of exchanges) if (exchange.at < keepFrom) traffic.settleSqueezed(exchange)
  return traffic.forms
}

/** Exchanges by their order, and the forms settled so far: a form is judged by what was added before. */
class NumberedTraffic {
  readonly forms = new Map<ToolUseBlock, Form>()
  count = 0
  readonly #index = new TrafficIndex()
  readonly #numbers = new Map<ToolUseBlock, number>()

  add({ pairs }: Exchange): void {
    for (const pair of pairs) this.#numbers.set(pair.call, this.#index.add(pair))
    this.count++
  }

  /** Of a turn that is over, still in the window: what found nothing goes first, what is stale is said to be. */
  settleFresh({ pairs }: Exchange): void {
    for (const pair of pairs) this.#set(pair, false, this.#index.staleNote(this.#numberOf(pair)))
  }

  settleOld(exchange: Exchange, past: TrafficSettings["past"]): void {
    for (const pair of exchange.pairs) {
      if (past === "drop") {
        this.forms.set(pair.call, "drop")
        continue
      }
      const at = this.#numberOf(pair)
      const note =
        this.#index.coveredNote(at) ?? this.#index.staleNote(at) ?? this.#index.repeatNote(at)
      this.#set(pair, past === "stub", note)
    }
  }

  settleSqueezed({ pairs }: Exchange): void {
    for (const pair of pairs) {
      const at = this.#numberOf(pair)
      this.#set(pair, true, this.#index.coveredNote(at) ?? this.#index.repeatNote(at))
    }
  }

  #numberOf({ call }: Pair): number {
    return this.#numbers.get(call)!
  }

  #set({ call, result }: Pair, old: boolean, found: string | undefined): void {
    const note = result.uneventful ? MACHINE_TEXT.empty_result.marker : found
    if (old || note !== undefined)
      this.forms.set(call, { old, ...(note !== undefined && { note }) })
  }
}

const weightOf = ({ pairs }: Exchange, view: ResultView): number =>
  pairs.reduce((sum, pair) => sum + freshChars(pair, view), 0)

/** Behind the last exchange of each turn: the turn that follows entered with these. */
function turnEnds(exchanges: readonly Exchange[]): number[] {
  const isLast = ({ turnId }: Exchange, index: number): boolean =>
    exchanges[index + 1]?.turnId !== turnId
  return exchanges.flatMap((exchange, index) => (isLast(exchange, index) ? [index + 1] : []))
}
