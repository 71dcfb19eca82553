/**
 * Sums up a transcript in windows that the model can read: each merges the summary so far with the next stretch,
 * and one that has grown too long is pressed together once.
 */
import { cutMiddle } from "../../lib/text.ts"
import { addUsage, complete } from "../../llm/complete.ts"
import type { Router } from "../../llm/router.ts"
import { emptyUsage, type Usage } from "../../schema/usage.ts"
import handover from "./handover.txt" with { type: "text" }

/** Share of a model's context window that one stretch may fill. */
const WINDOW_SHARE = 0.6
/** Tokens of one stretch for a model whose window is not known. */
const UNKNOWN_WINDOW_STRETCH = 60_000
/** A summary may be so much longer than asked for before it is pressed together. */
const TOLERANCE = 1.25

export interface Material {
  model: string
  /** The summary of what came before; empty for none. */
  former: string
  /** Entries of a transcript, oldest first. */
  transcript: readonly string[]
  /** Most tokens of the summary. */
  tokens: number
  chatId: string
  signal: AbortSignal
  /** Told before each stretch. */
  progress(done: number, all: number): void
}

/** `usage` adds up all trips, those of a failure too. */
export type Summarised =
  | { text: string; model: string; usage: Usage }
  | { failure: string; model: string; usage: Usage }

export async function summarise(router: Router, material: Material): Promise<Summarised> {
  const stretches = stretchesOf(router, material)
  const teller = new Teller(router, material)
  let text = material.former
  for (const [index, stretch] of stretches.entries()) {
    material.progress(index, stretches.length)
    const answer = await teller.ask(mergeText(text, stretch))
    if (answer === undefined) return teller.failed()
    text = answer
  }
  const tooLong = (said: string): boolean => teller.tokensOf(said) > material.tokens * TOLERANCE
  if (tooLong(text)) text = (await teller.ask(squeezeText(text, material.tokens))) ?? text
  // A model that cannot be brief must not fill the window that the fold is to clear.
  if (tooLong(text))
    text = cutMiddle(text, Math.floor((text.length * material.tokens) / teller.tokensOf(text)))
  return { text, model: teller.model, usage: teller.usage }
}

class Teller {
  model: string
  usage = emptyUsage()
  readonly #router: Router
  readonly #material: Material
  #failure = "it said nothing"

  constructor(router: Router, material: Material) {
    this.#router = router
    this.#material = material
    this.model = material.model
  }

  tokensOf(text: string): number {
    return this.#router.tokens.text(this.model, text)
  }

  /** Undefined when the model failed or said nothing. */
  async ask(text: string): Promise<string | undefined> {
    const { model, signal, chatId, tokens } = this.#material
    const answer = await complete(this.#router, {
      model,
      signal,
      system: handover.trim(),
      messages: [{ role: "user", blocks: [{ type: "text", text }] }],
      maxTokens: 2 * tokens,
      spender: { chat: chatId },
    })
    this.usage = addUsage(this.usage, answer.usage)
    if ("failure" in answer) {
      this.#failure = answer.failure.message
      return undefined
    }
    this.model = answer.model
    return answer.text.trim() || undefined
  }

  failed(): Summarised {
    return { failure: `${this.model}: ${this.#failure}`, model: this.model, usage: this.usage }
  }
}

const mergeText = (former: string, stretch: string): string =>
  [
    former && `The handover of the shift before:\n\n${former}`,
    `What was said and done since:\n\n${stretch}`,
    "Now write the handover.",
  ]
    .filter(Boolean)
    .join("\n\n")

const squeezeText = (text: string, tokens: number): string =>
  `This handover has become too long:\n\n${text}\n\nWrite it anew in at most ${tokens} tokens: keep the task, constraints, what is next and the facts that are still needed; shorten what is done.`

/** The transcript in pieces that fit beside a summary. An entry that fills a piece by itself is cut in its middle. */
function stretchesOf(router: Router, { model, transcript, tokens }: Material): string[] {
  const window = router.models.resolve(model).entry.contextWindow
  const room =
    window === undefined
      ? UNKNOWN_WINDOW_STRETCH
      : Math.max(1000, Math.floor(window * WINDOW_SHARE) - 2 * tokens)
  const stretches: string[][] = [[]]
  let left = room
  for (const entry of transcript) {
    const weight = router.tokens.text(model, entry)
    const fitting =
      weight <= room ? entry : cutMiddle(entry, Math.floor((entry.length * room) / weight))
    if (weight > left && stretches.at(-1)!.length > 0) {
      stretches.push([])
      left = room
    }
    stretches.at(-1)!.push(fitting)
    left -= Math.min(weight, room)
  }
  return stretches.map((entries) => entries.join("\n\n"))
}
