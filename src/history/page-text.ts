/** One page of hits as the model reads it: under a line for each chat, one line for each message. */
import { isoTime } from "../lib/clock.ts"
import type { HistoryHit, HistoryLine } from "../schema/history-search.ts"
import type { HistoryAnswer } from "./history.ts"

type PersonName = (id: string) => string | undefined

export function pageText(page: HistoryAnswer, personName: PersonName): string {
  const lines: string[] = []
  let chat: string | undefined
  for (const hit of page.hits) {
    if (hit.chatId !== chat) lines.push(...(chat === undefined ? [] : [""]), heading(hit))
    chat = hit.chatId
    lines.push(...hitLines(hit, personName))
  }
  const end = endLines(page)
  if (lines.length > 0 && end.length > 0) lines.push("")
  return [...lines, ...end].join("\n")
}

function heading({ chatId, title, surface }: HistoryHit): string {
  const named = title === "" ? "(no title)" : title
  return `== ${named} · ${surface === null ? "" : `${surface} · `}chat ${chatId}`
}

/** With neighbours the hit itself stands out by an arrow. */
function hitLines(hit: HistoryHit, personName: PersonName): string[] {
  const line = (said: HistoryLine) =>
    `${isoTime(said.at).slice(0, 16).replace("T", " ")}Z ${speaker(said.who, personName)}: ${said.text}`
  const own = `${line(hit)}${hit.service ? " (service text)" : ""}`
  if (hit.earlier.length + hit.later.length === 0) return [own]
  return [
    ...hit.earlier.map((said) => `  ${line(said)}`),
    `→ ${own}`,
    ...hit.later.map((said) => `  ${line(said)}`),
  ]
}

function speaker(who: string, personName: PersonName): string {
  const name = personName(who)
  return name === undefined ? who : `${name} (${who})`
}

function endLines({ hits, next, stoppedAt, behind }: HistoryAnswer): string[] {
  const lines: string[] = []
  if (stoppedAt !== undefined) {
    lines.push(
      `The time ran out: it was searched back to ${isoTime(stoppedAt)}. To go on, repeat it with before: ${next}.`,
    )
  } else if (next !== undefined) lines.push(`There is more: repeat it with before: ${next}.`)
  else if (hits.length === 0) lines.push("nothing found")
  if (behind) {
    lines.push(
      "Some messages are not in the index yet and may be missing; search again in a while.",
    )
  }
  return lines
}
