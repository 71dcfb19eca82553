/** The volatile part of the prompt: the last block of the last message, rebuilt for each request. */
import { MACHINE_TEXT } from "../../schema/machine-text.ts"

export interface StateView {
  nowMs: number
  /** IANA zone of the master. */
  zone: string
  /** Provider trips left in this turn, told only when few are left. */
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

/** The text of the `[wrapup]` block: few trips are left. */
export function wrapupText(tripsLeft: number): string {
  const trips = tripsLeft === 1 ? "1 more request" : `${tripsLeft} more requests`
  return `${MACHINE_TEXT.wrapup.marker} This turn allows ${trips} to you. Finish or stop at a good point now and answer with what you have, saying what is left undone.`
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
