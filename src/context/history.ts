/**
 * Stored messages to what a model is shown. History is facts: nothing here is written back. Pairs are
 * repaired, thoughts of closed turns and texts meant for clients are left out, pictures are bounded.
 */
import { isObject } from "../lib/json.ts"
import { wireName } from "../llm/conversation.ts"
import type { ModelMessage } from "../llm/provider.ts"
import { imageReference, imageUnseen, MACHINE_TEXT } from "../schema/machine-text.ts"
import type { Block, Message, ToolResultBlock, ToolUseBlock } from "../schema/message.ts"
import {
  closingBlocks,
  createSpeakers,
  isSpoken,
  type Speakers,
  type SpeakerView,
} from "./fragments/speaker.ts"

export interface HistoryView extends SpeakerView {
  /** Thoughts of this turn go back to the model that had them; those of other turns never do. */
  currentTurnId: string
  /** The model takes pictures. */
  vision: boolean
  imageUrl(id: string): string
}

/** Pictures in one request; older ones become text, since providers lower the size limit with the count. */
export const IMAGES_MAX = 20
/** So many become text at once, else every further picture would change the prefix that is cached. */
const IMAGES_STEP = 10

/** Alternating messages, every call paired with exactly one result, none of them empty. */
export const historyForModel = (messages: readonly Message[], view: HistoryView): ModelMessage[] =>
  continueHistory([], messages, view)

/**
 * History behind a past that is already rendered, which stays as it is; `behind` are its messages. Equal to rendering both anew when no
 * turn lies in both and the messages hold no pictures (those are bounded over the whole request).
 */
export function continueHistory(
  past: readonly ModelMessage[],
  messages: readonly Message[],
  view: HistoryView & { behind?: readonly Message[] },
): ModelMessage[] {
  const pictures = boundPictures(messages, view)
  const speakers = createSpeakers(view, view.behind ?? [])
  const unusedId = createCallIds(past)
  const shown = [...past]
  const seam = shown.at(-1)
  // The one message of the past that may grow.
  if (seam) shown[shown.length - 1] = { ...seam, blocks: [...seam.blocks] }
  for (const [index, message] of messages.entries()) {
    if (message.role === "user") {
      append(shown, "user", userBlocks(message, { view, pictures, speakers }))
      continue
    }
    const pairs = pairsOf(messages, index, unusedId)
    append(shown, "assistant", assistantBlocks(message, view, pairs))
    append(
      shown,
      "user",
      pairs.map((pair) => pair.result),
    )
  }
  return shown
}

interface Pair {
  call: ToolUseBlock
  result: ToolResultBlock
}

/**
 * The calls of an answer with their results, in order. Results stand in the turn's messages before its next
 * answer, the first of an id counts, and one that was lost is made up. A result that answers nothing is an
 * orphan and never appears.
 */
function pairsOf(
  messages: readonly Message[],
  index: number,
  unusedId: (id: string) => string,
): Pair[] {
  const answer = messages[index]!
  const calls = answer.blocks.filter((block) => block.type === "tool_use")
  if (calls.length === 0) return []
  const results = resultsBehind(messages, index)
  return calls.map((stored) => {
    const id = unusedId(stored.id)
    const { input } = stored
    const at = results.findIndex((result) => result.id === stored.id)
    const [result = lostResult] = at < 0 ? [] : results.splice(at, 1)
    return {
      call: { ...stored, id, name: wireName(stored.name), input: isObject(input) ? input : {} },
      result: { ...result, id },
    }
  })
}

function resultsBehind(messages: readonly Message[], index: number): ToolResultBlock[] {
  const { turn_id } = messages[index]!
  const results: ToolResultBlock[] = []
  for (let at = index + 1; at < messages.length; at++) {
    const { role, turn_id: turn, blocks } = messages[at]!
    if (role === "assistant" || turn !== turn_id) break
    results.push(...blocks.filter((block) => block.type === "tool_result"))
  }
  return results
}

const lostResult: ToolResultBlock = {
  type: "tool_result",
  id: "",
  output: MACHINE_TEXT.call_interrupted.marker,
  is_error: true,
}

/** Small models number their calls anew in every answer; in a request each id is one call. */
function createCallIds(past: readonly ModelMessage[]): (id: string) => string {
  const used = new Set<string>()
  const counts = new Map<string, number>()
  for (const { blocks } of past) {
    for (const block of blocks) if (block.type === "tool_use") used.add(block.id)
  }
  return (id) => {
    let unused = id
    let count = counts.get(id) ?? 1
    while (used.has(unused)) unused = `${id}_${++count}`
    counts.set(id, count)
    used.add(unused)
    return unused
  }
}

function userBlocks(
  message: Message,
  at: { view: HistoryView; pictures: ReadonlySet<Block>; speakers: Speakers },
): Block[] {
  const { view, pictures, speakers } = at
  return speakers.said(message).map((block): Block => {
    if (block.type !== "image" || pictures.has(block)) return block
    const text = view.vision
      ? imageReference(block.id, view.imageUrl(block.id))
      : imageUnseen(block.id)
    return { type: "text", text }
  })
}

function assistantBlocks(message: Message, view: HistoryView, pairs: readonly Pair[]): Block[] {
  const calls = pairs.values()
  const blocks = message.blocks.flatMap((block): Block[] => {
    switch (block.type) {
      case "text":
        return isSpoken(block.text) ? [block] : []
      case "thinking":
        return message.turn_id === view.currentTurnId ? [block] : []
      case "image":
        return [{ type: "text", text: imageReference(block.id, view.imageUrl(block.id)) }]
      case "tool_use":
        return [calls.next().value!.call]
      default:
        return []
    }
  })
  return closingBlocks(message, blocks)
}

/** Neighbours of one role are one message; a message left with nothing disappears. */
function append(shown: ModelMessage[], role: ModelMessage["role"], blocks: Block[]): void {
  // A message of nothing but thought says nothing to a later request.
  if (blocks.every((block) => block.type === "thinking")) return
  const last = shown.at(-1)
  if (last?.role === role) last.blocks.push(...blocks)
  else shown.push({ role, blocks })
}

/** The newest pictures of people, which still go as pictures. */
function boundPictures(messages: readonly Message[], view: HistoryView): ReadonlySet<Block> {
  if (!view.vision) return new Set()
  const all = messages
    .filter((message) => message.role === "user")
    .flatMap((message) => message.blocks.filter((block) => block.type === "image"))
  const tooMany = Math.max(0, all.length - IMAGES_MAX)
  return new Set(all.slice(Math.ceil(tooMany / IMAGES_STEP) * IMAGES_STEP))
}
