/** The volatile part of the prompt: the last block of the last message, rebuilt for each request. */
import { MACHINE_TEXT } from "../../schema/machine-text.ts"

export interface StateView {
  nowMs: number
  /** IANA zone of the master. */
  zone: string
  /** Provider trips that the turn may still make behind this one; undefined without a cap. */
  tripsLeft: number | undefined
  /** The master asked for hard thinking with the magic word. */
  ultrathink: boolean
}

/** The text of the `[state]` block. */
export function stateText(view: StateView): string {
  const lines = [
    MACHINE_TEXT.state.marker,
    `[now] ${localTime(view.nowMs, view.zone)}`,
    view.ultrathink &&
      "The master asked you to think this through with great care before you answer.",
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

/** `Monday 2026-11-30 23:05 (Europe/Berlin)`: minutes only, since seconds help nobody. */
function localTime(nowMs: number, zone: string): string {
  const parts = new Intl.DateTimeFormat("en-GB", {
    timeZone: zone,
    weekday: "long",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
  }).formatToParts(nowMs)
  const part = (type: string) => parts.find((one) => one.type === type)?.value
  return `${part("weekday")} ${part("year")}-${part("month")}-${part("day")} ${part("hour")}:${part("minute")} (${zone})`
}
