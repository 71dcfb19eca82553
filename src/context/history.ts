/**
 * Stored messages to what a model is shown. History is facts: nothing here is written back. Pairs are
 * repaired, thoughts of closed turns and texts meant for clients are left out, pictures are bounded.
 */
import type { ModelMessage } from "../llm/provider.ts"
import {
  imageReference,
  imageUnseen,
  isHiddenFromModel,
  MACHINE_TEXT,
} from "../schema/machine-text.ts"
import type { Block, Message, ToolResultBlock, ToolUseBlock } from "../schema/message.ts"
import { speakerBlocks } from "./fragments/speaker.ts"

export interface HistoryView {
  /** Thoughts of this turn go back to the model that had them; those of other turns never do. */
  currentTurnId: string
  /** The model takes pictures. */
  vision: boolean
  imageUrl(id: string): string
  /** The name shown beside a person's id, when the person is known. */
  personName(id: string): string | undefined
}

/** Pictures in one request; older ones become text, since providers lower the size limit with the count. */
export const IMAGES_MAX = 20

/** Alternating messages, every call paired with exactly one result, none of them empty. */
export function historyForModel(messages: readonly Message[], view: HistoryView): ModelMessage[] {
  const seen = boundImages(messages, view)
  const shown: ModelMessage[] = []
  for (let index = 0; index < messages.length; index++) {
    const message = messages[index]!
    if (message.role === "user") {
      append(shown, "user", userBlocks(message, view, seen))
      continue
    }
    const calls = message.blocks.filter((block) => block.type === "tool_use")
    append(shown, "assistant", assistantBlocks(message, view))
    if (calls.length > 0) append(shown, "user", resultsFor(calls, messages, index + 1))
  }
  return shown
}

/** The results of these calls out of the messages before the next answer, with the lost ones made up. */
function resultsFor(
  calls: readonly ToolUseBlock[],
  messages: readonly Message[],
  from: number,
): ToolResultBlock[] {
  const results = new Map<string, ToolResultBlock>()
  for (let index = from; index < messages.length; index++) {
    const message = messages[index]!
    if (message.role === "assistant") break
    for (const block of message.blocks) {
      if (block.type === "tool_result" && !results.has(block.id)) results.set(block.id, block)
    }
  }
  return calls.map((call) => results.get(call.id) ?? lostResult(call.id))
}

const lostResult = (id: string): ToolResultBlock => ({
  type: "tool_result",
  id,
  output: MACHINE_TEXT.call_interrupted.marker,
  is_error: true,
})

/** Speech only: results are placed behind their calls, so an orphan simply never appears. */
function userBlocks(message: Message, view: HistoryView, seen: ReadonlySet<string>): Block[] {
  const speech = message.blocks.filter((block) => block.type !== "tool_result")
  const blocks = speech.flatMap((block): Block[] => {
    if (block.type === "text") return isSpoken(block.text) ? [block] : []
    if (block.type !== "image") return []
    if (seen.has(block.id)) return [block]
    const text = view.vision
      ? imageReference(block.id, view.imageUrl(block.id))
      : imageUnseen(block.id)
    return [{ type: "text", text }]
  })
  return speakerBlocks(message, blocks, view.personName)
}

function assistantBlocks(message: Message, view: HistoryView): Block[] {
  return message.blocks.flatMap((block): Block[] => {
    switch (block.type) {
      case "text":
        return isSpoken(block.text) ? [block] : []
      case "thinking":
        return message.turn_id === view.currentTurnId ? [block] : []
      case "image":
        return [{ type: "text", text: imageReference(block.id, view.imageUrl(block.id)) }]
      case "tool_use":
        return [block]
      default:
        return []
    }
  })
}

const isSpoken = (text: string): boolean => text.trim() !== "" && !isHiddenFromModel(text)

/** Neighbours of one role are one message; a message left with nothing disappears. */
function append(shown: ModelMessage[], role: ModelMessage["role"], blocks: Block[]): void {
  // A message of nothing but thought says nothing to a later request.
  if (blocks.every((block) => block.type === "thinking")) return
  const last = shown.at(-1)
  if (last?.role === role) last.blocks.push(...blocks)
  else shown.push({ role, blocks })
}

/** The ids of the newest pictures that still go as pictures. */
function boundImages(messages: readonly Message[], view: HistoryView): ReadonlySet<string> {
  const kept = new Set<string>()
  if (!view.vision) return kept
  for (const message of messages.toReversed()) {
    if (message.role !== "user") continue
    for (const block of message.blocks.toReversed()) {
      if (block.type === "image" && kept.size < IMAGES_MAX) kept.add(block.id)
    }
  }
  return kept
}
