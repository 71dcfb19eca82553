/** One request out of its parts: system, history, state. The same parts give the same bytes. */
import type { ModelMessage } from "../llm/provider.ts"
import type { Block } from "../schema/message.ts"
import { type StateView, stateText, wrapupText } from "./fragments/state.ts"

/** How many trips before the cap the model is warned. */
export const WRAPUP_TRIPS = 2

/**
 * The messages of one request: history with the machine's own blocks at the very end. The messages that do
 * not change before the next step carry the cache marker.
 */
export function requestMessages(
  history: readonly ModelMessage[],
  state: StateView,
  cacheMark: boolean,
): ModelMessage[] {
  const machine: Block[] = [{ type: "text", text: stateText(state) }]
  if (state.tripsLeft !== undefined && state.tripsLeft <= WRAPUP_TRIPS) {
    machine.push({ type: "text", text: wrapupText(state.tripsLeft) })
  }
  const last = history.at(-1)
  if (last?.role !== "user") {
    // A turn whose own message is gone (or that goes on after its answer) still asks something.
    return [...history, { role: "user", blocks: machine }]
  }
  const before = history.slice(0, -1)
  const anchor = before.at(-1)
  if (cacheMark && anchor) before[before.length - 1] = { ...anchor, cacheMark: true }
  return [...before, { role: "user", blocks: [...last.blocks, ...machine] }]
}
