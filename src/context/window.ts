/** The live window of a surface's chat: the newest utterances of people and all that was said between them. */
import type { Message } from "../schema/message.ts"
import { isUtterance } from "./utterance.ts"

/**
 * The past that a turn with `own` utterances sees. With them it holds at least `limit` utterances and less than
 * twice as many: it starts at a multiple of `limit`, so that the prefix is new once in `limit` utterances and not
 * with each one. 0 sees everything.
 */
export function liveWindow(past: readonly Message[], own: number, limit: number): Message[] {
  if (limit === 0) return [...past]
  const starts = past.flatMap((message, index) => (isUtterance(message) ? [index] : []))
  const first = Math.max(0, Math.floor((starts.length + own) / limit) - 1) * limit
  return first === 0 ? [...past] : past.slice(starts[first] ?? past.length)
}
