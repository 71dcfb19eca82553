/**
 * A long turn shows its own older tool traffic in short, all at once, when it has grown heavy: each pass costs the
 * cached prefix behind it, so there are few. What is stored stays as it is.
 */
import type { Message, ToolUseBlock } from "../schema/message.ts"
import { type Form, type ResultView, shownPair } from "./elide.ts"
import { exchangesIn, type Pair } from "./exchange.ts"
import { type Forms, planSqueeze } from "./traffic.ts"

/** The last four messages stay fresh: two answers and their results. */
const FRESH_EXCHANGES = 2

export class TurnSqueeze {
  /** Of the turn's calls that are shown in short by now. */
  forms: ReadonlyMap<ToolUseBlock, Form> = new Map()
  readonly #view: ResultView
  #weighed = 0
  #tokens = 0
  #limit: number

  /** `limit` is in tokens of the turn's traffic as it is when fresh; 0 never squeezes. */
  constructor(view: ResultView, limit: number) {
    this.#view = view
    this.#limit = limit === 0 ? Number.POSITIVE_INFINITY : limit
  }

  /**
   * To be called before a request with the turn's messages; gives the characters that it freed. When it has freed
   * some, it waits until the traffic weighs twice as much; when there was nothing to free, no byte has changed.
   */
  run(own: readonly Message[], tokensOf: (text: string) => number): number {
    const exchanges = exchangesIn(own)
    for (const { pairs } of exchanges.slice(this.#weighed)) {
      for (const pair of pairs)
        this.#tokens += tokensOf(textOf(shownPair(pair, undefined, this.#view)))
    }
    this.#weighed = exchanges.length
    if (this.#tokens < this.#limit) return 0
    const keepFrom = exchanges.at(-FRESH_EXCHANGES)?.at ?? 0
    // What is short already stays as it is: its bytes need not change a second time.
    const forms = new Map([...planSqueeze(own, keepFrom), ...this.forms])
    const freed = exchanges
      .flatMap(({ pairs }) => pairs)
      .reduce((sum, pair) => sum + this.#freedOf(pair, forms), 0)
    if (freed <= 0) return 0
    this.forms = forms
    this.#limit = 2 * this.#tokens
    return freed
  }

  #freedOf(pair: Pair, forms: Forms): number {
    const before = textOf(shownPair(pair, this.forms.get(pair.call), this.#view))
    return before.length - textOf(shownPair(pair, forms.get(pair.call), this.#view)).length
  }
}

const textOf = (pair: Pair | undefined): string =>
  pair ? JSON.stringify(pair.call.input ?? {}) + pair.result.output : ""
