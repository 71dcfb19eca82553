/** The volatile part of the prompt: the last block of the last message, rebuilt for each request. */
import { MACHINE_TEXT } from "../../schema/machine-text.ts"

export interface StateView {
  /** The time where the master is: `Monday 2026-11-30 23:05 (Europe/Berlin)`. */
  now: string
  /** Where relative paths count from: `/home/me/code (client)`; empty without a directory or out of place. */
  workdir: string
  /** Provider trips that the turn may still make behind this one; undefined without a cap. */
  tripsLeft: number | undefined
  /** The master asked for hard thinking with the magic word. */
  ultrathink: boolean
  /** Older tool traffic of this turn is shown in short. */
  squeezed: boolean
  /** The line `[window]`; empty while the history is far from its fold. */
  window: string
  /** What is told of the folded part of the history; empty when nothing is folded. */
  summary: string
  /** The section `# Memory`; empty when nothing is recalled. */
  memory: string
  /** The block `[notebook]`; empty when there is nothing to tell of one. */
  notebook: string
  /** The block `[plan]`; empty without one. */
  plan: string
}

/** The text of the `[state]` block. */
export function stateText(view: StateView): string {
  const lines = [
    MACHINE_TEXT.state.marker,
    `[now] ${view.now}`,
    view.workdir && `[workdir] ${view.workdir}`,
    view.ultrathink &&
      "The master asked you to think this through with great care before you answer.",
    view.squeezed &&
      "This turn has grown long: its older tool output is shown in short now. Finish from what you know, and re-read anything you still need.",
    view.window,
    view.summary,
    view.memory,
    view.notebook,
    view.plan,
  ]
  return lines.filter(Boolean).join("\n")
}

/** The text of the `[wrapup]` block: few trips are left behind this one. */
export function wrapupText(tripsLeft: number): string {
  const { marker } = MACHINE_TEXT.wrapup
  if (tripsLeft <= 0) {
    return `${marker} This is the last request of this turn: the results of further tool calls would not reach you any more. Answer now with what you have, saying what is left undone.`
  }
  const trips = tripsLeft === 1 ? "1 more request" : `${tripsLeft} more requests`
  return `${marker} This turn allows ${trips} after this one. Finish or stop at a good point now and answer with what you have, saying what is left undone.`
}
