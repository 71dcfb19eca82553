/** The master's newest words of a folded part, kept word for word: how a task was put is the task. Pure. */
import { cutMiddle } from "../../lib/text.ts"
import { isMachineText } from "../../schema/machine-text.ts"
import type { Message } from "../../schema/message.ts"
import type { VerbatimLine } from "../../schema/summary.ts"

export interface VerbatimBudget {
  tokens: number
  textTokens(text: string): number
}

/** Room for the line that says how much a cut took out, in UTF-16 units. */
const CUT_NOTE = 48
/** Nobody understands less than this of a line. */
const LEAST_CHARS = 40

/**
 * From the newest backwards, first of the folded messages, then of what earlier folds had kept. The first that does
 * not fit is cut in its middle and is the last. A part in which the master said nothing changes nothing.
 */
export function keepVerbatim(
  folded: readonly Message[],
  kept: readonly VerbatimLine[],
  budget: VerbatimBudget,
): readonly VerbatimLine[] {
  const said = folded.flatMap((message): VerbatimLine[] => {
    const text = wordsOfMaster(message)
    return text === "" ? [] : [{ at: message.created_at, text }]
  })
  if (said.length === 0) return kept
  const lines: VerbatimLine[] = []
  let left = budget.tokens
  for (const line of [...kept, ...said].reverse()) {
    const weight = budget.textTokens(line.text)
    if (weight <= left) {
      lines.push(line)
      left -= weight
      continue
    }
    const text = cutToFit(line.text, weight, left)
    if (text !== undefined) lines.push({ ...line, text })
    break
  }
  return lines.reverse()
}

/** By the share of its tokens that is left; undefined when that would say nothing. */
function cutToFit(text: string, weight: number, left: number): string | undefined {
  const chars = Math.floor((text.length * left) / weight) - CUT_NOTE
  return chars < LEAST_CHARS ? undefined : cutMiddle(text, chars)
}

function wordsOfMaster({ role, master, blocks }: Message): string {
  if (role !== "user" || !master) return ""
  return blocks
    .flatMap((block) => (block.type === "text" && !isMachineText(block.text) ? [block.text] : []))
    .join("\n")
    .trim()
}
