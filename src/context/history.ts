/**
 * Stored messages to what a model is shown. History is facts: nothing here is written back. Pairs are
 * repaired, thoughts of closed turns and texts meant for clients are left out, pictures are bounded.
 */
import { isObject } from "../lib/json.ts"
import { wireName } from "../llm/conversation.ts"
import type { ModelMessage } from "../llm/provider.ts"
import { imageReference, imageUnseen } from "../schema/machine-text.ts"
import type { Block, Message } from "../schema/message.ts"
import { type ResultView, shownPair } from "./elide.ts"
import { type Pair, pairsOf } from "./exchange.ts"
import {
  closingBlocks,
  createSpeakers,
  isSpoken,
  type Speakers,
  type SpeakerView,
} from "./fragments/speaker.ts"
import type { Forms } from "./traffic.ts"

export interface HistoryView extends SpeakerView {
  /** Thoughts of this turn go back to the model that had them; those of other turns never do. */
  currentTurnId: string
  /** The model takes pictures. */
  vision: boolean
  imageUrl(id: string): string
  results: ResultView
}

/** Pictures in one request; older ones become text, since providers lower the size limit with the count. */
export const IMAGES_MAX = 20
/** So many become text at once, else every further picture would change the prefix that is cached. */
const IMAGES_STEP = 10

/** History as a request bears it: alternating messages, every call with exactly one result, none of them empty. */
export interface Rendered {
  shown: readonly ModelMessage[]
  /** The stored messages that are shown. */
  stored: readonly Message[]
  /** For each stored message, and for the end: how many of the shown are over before it begins. */
  over: readonly number[]
  ids: CallIds
}

export const historyForModel = (
  messages: readonly Message[],
  view: HistoryView,
  forms?: Forms,
): Rendered =>
  continueHistory({ shown: [], stored: [], over: [], ids: new CallIds() }, messages, {
    ...view,
    forms,
  })

/**
 * History behind a past that is already rendered, which stays as it is. Equal to rendering both anew when no turn
 * lies in both and the messages hold no pictures (those are bounded over the whole request).
 */
export function continueHistory(
  past: Rendered,
  messages: readonly Message[],
  view: HistoryView & { forms?: Forms | undefined },
): Rendered {
  const pictures = boundPictures(messages, view)
  const speakers = createSpeakers(view, past.stored)
  const ids = new CallIds(past.ids)
  const shown = [...past.shown]
  const over = past.over.slice(0, past.stored.length)
  const seam = shown.at(-1)
  // The one message of the past that may grow.
  if (seam) shown[shown.length - 1] = { ...seam, blocks: [...seam.blocks] }
  for (const [index, message] of messages.entries()) {
    over.push(countOver(shown, message.role))
    if (message.role === "user") {
      append(shown, "user", userBlocks(message, { view, pictures, speakers }))
      continue
    }
    const pairs = shownPairs(pairsOf(messages, index), view, ids)
    append(shown, "assistant", assistantBlocks(message, view, pairs))
    const results = pairs.flatMap((pair) => (pair ? [pair.result] : []))
    append(shown, "user", results)
  }
  over.push(countOver(shown, "user"))
  return { shown, stored: [...past.stored, ...messages], over, ids }
}

/** A message of the same role as the next may still grow. */
const countOver = (shown: readonly ModelMessage[], next: ModelMessage["role"]): number =>
  shown.length > 0 && shown.at(-1)!.role === next ? shown.length - 1 : shown.length

/** As the request bears them: fit for every provider, each in its form; undefined for one that is dropped. */
function shownPairs(
  pairs: readonly Pair[],
  view: HistoryView & { forms?: Forms | undefined },
  ids: CallIds,
): (Pair | undefined)[] {
  return pairs.map((stored) => {
    // A dropped call keeps its number, lest those behind it be renamed.
    const id = ids.unused(stored.call.id)
    const shown = shownPair(stored, view.forms?.get(stored.call), view.results)
    if (!shown) return undefined
    const { name, input } = shown.call
    return {
      call: { ...shown.call, id, name: wireName(name), input: isObject(input) ? input : {} },
      result: { ...shown.result, id },
    }
  })
}

/** Small models number their calls anew in every answer; in a request each id is one call. */
class CallIds {
  private readonly used = new Set<string>()
  private readonly counts = new Map<string, number>()
  private readonly behind: CallIds | undefined

  constructor(behind?: CallIds) {
    this.behind = behind
  }

  unused(id: string): string {
    let unused = id
    let count = this.countOf(id) ?? 1
    while (this.isUsed(unused)) unused = `${id}_${++count}`
    this.counts.set(id, count)
    this.used.add(unused)
    return unused
  }

  private isUsed(id: string): boolean {
    return this.used.has(id) || this.behind?.isUsed(id) === true
  }

  private countOf(id: string): number | undefined {
    return this.counts.get(id) ?? this.behind?.countOf(id)
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

function assistantBlocks(
  message: Message,
  view: HistoryView,
  pairs: readonly (Pair | undefined)[],
): Block[] {
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
        return callBlock(calls.next().value)
      default:
        return []
    }
  })
  return closingBlocks(message, blocks)
}

const callBlock = (pair: Pair | undefined): Block[] => (pair ? [pair.call] : [])

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
