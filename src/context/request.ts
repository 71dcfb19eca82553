/** One request out of its parts: system, history, state. The same parts give the same bytes. */
import type { ModelMessage } from "../llm/provider.ts"
import type { Block } from "../schema/message.ts"
import type { ShownConversation } from "./conversation.ts"
import { type AttributionView, attributionText } from "./fragments/attribution.ts"
import { type StateView, stateText, wrapupText } from "./fragments/state.ts"

export interface MachineView extends StateView {
  speaker: AttributionView
}

/** With so many requests left behind this one the model is told that the turn nears its cap. */
const WRAPUP_TRIPS = 2

/**
 * The messages of one request: history with the machine's own blocks at the very end. Cache markers go behind
 * the last message that stays as it is for good, behind what the request before was marked at, since a provider
 * looks for a cached prefix only a few blocks back, and behind all that is not volatile.
 */
export function requestMessages(
  { messages: history, stable, stableBefore }: ShownConversation,
  state: MachineView,
  cacheMark: boolean,
): ModelMessage[] {
  const messages = [...history]
  // A turn whose own message is gone (or that goes on after its answer) still asks something.
  if (messages.at(-1)?.role !== "user") messages.push({ role: "user", blocks: [] })
  if (cacheMark) for (const count of [stable, stableBefore, messages.length]) mark(messages, count)
  const { blocks, ...last } = messages.pop()!
  return [...messages, { ...last, blocks: [...blocks, ...machineBlocks(state)] }]
}

function mark(messages: ModelMessage[], count: number): void {
  const message = messages[count - 1]
  if (message) messages[count - 1] = { ...message, cacheMark: message.blocks.length }
}

function machineBlocks(state: MachineView): Block[] {
  const { tripsLeft } = state
  const texts = [attributionText(state.speaker), stateText(state)].filter(
    (text) => text !== undefined,
  )
  if (tripsLeft !== undefined && tripsLeft <= WRAPUP_TRIPS) texts.push(wrapupText(tripsLeft))
  return texts.map((text) => ({ type: "text", text }))
}
