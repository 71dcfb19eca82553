/** One request out of its parts: system, history, state. The same parts give the same bytes. */
import type { ModelMessage } from "../llm/provider.ts"
import type { Block } from "../schema/message.ts"
import { type StateView, stateText, wrapupText } from "./fragments/state.ts"

/** With so many requests left behind this one the model is told that the turn nears its cap. */
const WRAPUP_TRIPS = 2

/**
 * The messages of one request: history with the machine's own blocks at the very end. The last message that
 * does not change before the next step carries the cache marker.
 */
export function requestMessages(
  history: readonly ModelMessage[],
  state: StateView,
  cacheMark: boolean,
): ModelMessage[] {
  const last = history.at(-1)
  // A turn whose own message is gone (or that goes on after its answer) still asks something.
  const spoken = last?.role === "user" ? last.blocks : []
  const before = last?.role === "user" ? history.slice(0, -1) : [...history]
  const anchor = before.at(-1)
  if (cacheMark && anchor) before[before.length - 1] = { ...anchor, cacheMark: true }
  return [...before, { role: "user", blocks: [...spoken, ...machineBlocks(state)] }]
}

function machineBlocks(state: StateView): Block[] {
  const { tripsLeft } = state
  const texts = [stateText(state)]
  if (tripsLeft !== undefined && tripsLeft <= WRAPUP_TRIPS) texts.push(wrapupText(tripsLeft))
  return texts.map((text) => ({ type: "text", text }))
}
