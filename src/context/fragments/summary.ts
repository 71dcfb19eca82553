/** What is told of the folded part of a history: the handover in its frame, and the master's own words. */
import { isoTime } from "../../lib/clock.ts"
import type { Message } from "../../schema/message.ts"
import type { VerbatimLine } from "../../schema/summary.ts"
import foldedNote from "./folded-note.txt" with { type: "text" }
import type { SpeakerView } from "./speaker.ts"
import frame from "./summary-frame.txt" with { type: "text" }
import verbatimFrame from "./summary-verbatim.txt" with { type: "text" }

export interface SummaryView {
  text: string
  verbatim: readonly VerbatimLine[]
}

/** The lines of the `[state]` block. */
export function summaryText(folded: SummaryView, { stamp }: Pick<SpeakerView, "stamp">): string {
  const words = folded.verbatim.map(({ at, text }) => {
    const { date, time } = stamp(Date.parse(at))
    return `[${date} ${time}]\n${quoted(text)}`
  })
  const verbatim = words.length > 0 && `${verbatimFrame.trim()}\n${words.join("\n")}`
  return [frame.trim(), quoted(folded.text), verbatim].filter(Boolean).join("\n")
}

/** Quoted, so that no line within can pass for one of the kernel's own. */
const quoted = (text: string): string => text.trim().replaceAll(/^/gm, "> ")

/** Stands where a history goes on in the middle; it begins with a message of a user, as providers want it. */
export const foldedMessage = (chatId: string): Message => ({
  ...{ id: "", chat_id: chatId, turn_id: null, role: "user", master: true },
  blocks: [{ type: "text", text: foldedNote.trim() }],
  created_at: isoTime(0),
})
