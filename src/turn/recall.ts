/** What a turn is reminded of: asked for once, at its entry, by its own words and those just before. */
import { errorText } from "../lib/error.ts"
import { isMachineText } from "../schema/machine-text.ts"
import type { Message } from "../schema/message.ts"
import type { TurnParts } from "./parts.ts"
import type { RunningTurn } from "./running-turn.ts"

/** The section `# Memory` of the prompt. A memory that fails costs itself, not the turn. */
export async function recallFor(parts: TurnParts, turn: RunningTurn): Promise<string> {
  const { spec, conversation, log } = turn
  const message = conversation.own.map(saidBy).filter(Boolean).join("\n")
  try {
    return await parts.recall({ message, previous: newestWords(conversation.past) }, spec.identity)
  } catch (error) {
    log.warn("nothing is recalled in this turn", { error: errorText(error) })
    return ""
  }
}

/** Utterances before the newest that recall is told of. */
const PREVIOUS_MAX = 10

/** What people said last, the newest first. */
export function newestWords(past: readonly Message[]): string[] {
  const words: string[] = []
  for (let at = past.length - 1; at >= 0 && words.length < PREVIOUS_MAX; at--) {
    const said = saidBy(past[at]!)
    if (said !== "") words.push(said)
  }
  return words
}

/** The words of people; what the agent or the machine said does not steer what is remembered. */
function saidBy({ role, blocks }: Message): string {
  if (role !== "user") return ""
  return blocks
    .flatMap((block) => (block.type === "text" && !isMachineText(block.text) ? [block.text] : []))
    .join("\n")
}
