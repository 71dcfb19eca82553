/** What the messages of a history weigh in a prompt, in tokens: calls and results in the form they are shown in. */
import { IMAGE_TOKENS } from "../../llm/tokens.ts"
import type { Message } from "../../schema/message.ts"
import { shownPair } from "../elide.ts"
import { pairsOf } from "../exchange.ts"
import { planPast, type TrafficSettings } from "../traffic.ts"

export interface Scales {
  traffic: TrafficSettings
  textTokens(text: string): number
}

/** One weight for each message. An answer bears the results of its calls; thoughts of closed turns weigh nothing. */
export function weigh(messages: readonly Message[], scales: Scales): number[] {
  const { forms } = planPast(messages, scales.traffic)
  return messages.map((message, at) => {
    const said = message.blocks.map((block) => {
      if (block.type === "text") return scales.textTokens(block.text)
      return block.type === "image" ? IMAGE_TOKENS : 0
    })
    const pairs = message.role === "assistant" ? pairsOf(messages, at) : []
    const traffic = pairs.map((pair) => {
      const shown = shownPair(pair, forms.get(pair.call), scales.traffic)
      return shown ? scales.textTokens(JSON.stringify(shown.call.input) + shown.result.output) : 0
    })
    return [...said, ...traffic].reduce((sum, weight) => sum + weight, 0)
  })
}
