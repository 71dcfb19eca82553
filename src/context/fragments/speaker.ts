/**
 * Who said it. Only the kernel writes the header, and the body stands quoted beneath it, so that no text can
 * speak in another's name. The master alone, in a chat without a surface, needs no header.
 */
import { head } from "../../lib/text.ts"
import type { Stamp } from "../../lib/time-zone.ts"
import { isHiddenFromModel } from "../../schema/machine-text.ts"
import type { Block, Message } from "../../schema/message.ts"
import { withoutClosingLine } from "./closing-line.ts"

export interface SpeakerView {
  /** The name shown beside a person's id, when the person is known. */
  personName(id: string): string | undefined
  /** Day and time where the master is. */
  stamp(ms: number): Stamp
}

/** What is repeated of the message that is answered. */
const SNIPPET_MAX_CHARS = 200

export type Speakers = ReturnType<typeof createSpeakers>

/**
 * Headers for messages in the order of the chat. `behind` are those that are shown already: a date stands only
 * where a new day begins, and a parent that is shown is not quoted again.
 */
export function createSpeakers(view: SpeakerView, behind: readonly Message[]) {
  const shownIds = new Set<string>()
  const lastHeaded = behind.findLast((message) => isHeaded(message) && isSaid(message))
  let day = lastHeaded && stampOf(lastHeaded, view).date

  const isShown = (extId: string): boolean =>
    shownIds.has(extId) ||
    behind.some((message) => message.ext_id === extId && isHeaded(message) && isSaid(message))

  /** `[#43 14:05 p7 Anna ↩#41 «quoted parent»]`; the parts that are not known are left out. */
  const header = (message: Message): string => {
    const { master, sender, ext_id, reply_to_ext_id: parent, reply_to_text } = message
    const name = sender && view.personName(sender)
    const { date, time } = stampOf(message, view)
    const quotes = reply_to_text && !(parent !== undefined && isShown(parent))
    const parts = [
      ext_id && `#${word(ext_id)}`,
      date === day ? time : `${date} ${time}`,
      sender,
      name && label(name),
      master ? "(master)" : !sender && "guest",
      parent && `↩#${word(parent)}`,
      quotes && `«${snippet(reply_to_text)}»`,
    ]
    day = date
    return `[${parts.filter(Boolean).join(" ")}]`
  }

  return {
    /** The words of a person as the model gets them: as they are, or quoted under a header. */
    said: (message: Message): Block[] => {
      const blocks = speechOf(message)
      if (blocks.length === 0 || !isHeaded(message)) return blocks
      const line = header(message)
      if (message.ext_id !== undefined) shownIds.add(message.ext_id)
      const [first, ...rest] = blocks.map((block): Block => {
        return block.type === "text" ? { type: "text", text: quote(block.text) } : block
      })
      if (first?.type === "text") return [{ type: "text", text: `${line}\n${first.text}` }, ...rest]
      return [{ type: "text", text: line }, first!, ...rest]
    },
  }
}

/** Words and pictures: results are placed behind their calls. */
const speechOf = ({ blocks }: Message): Block[] =>
  blocks.filter(
    (block) => block.type === "image" || (block.type === "text" && isSpoken(block.text)),
  )

const isSaid = (message: Message): boolean => speechOf(message).length > 0

export const isSpoken = (text: string): boolean => text.trim() !== "" && !isHiddenFromModel(text)

const stampOf = (message: Message, view: SpeakerView): Stamp =>
  view.stamp(Date.parse(message.created_at))

const isHeaded = (message: Message): boolean =>
  message.role === "user" &&
  (!message.master || message.sender !== undefined || message.ext_id !== undefined)

/**
 * The last text of an answer that closed messages: its own line of their ids becomes a header, which is what
 * later turns read. Nothing but the line leaves it as it is.
 */
export function closingBlocks(message: Message, blocks: Block[]): Block[] {
  const { closes, ext_id } = message
  if (closes === undefined || closes.length === 0) return blocks
  const own = ext_id ? [`#${word(ext_id)}`] : []
  const header = `[${[...own, `↩${closes.map((id) => `#${word(id)}`).join(", ")}`].join(" ")}]`
  const last = blocks.findLastIndex((block) => block.type === "text")
  return blocks.map((block, index) => {
    if (index !== last || block.type !== "text") return block
    return { type: "text", text: `${header}\n${withoutClosingLine(block.text)}`.trimEnd() }
  })
}

/** One line without brackets, which would end the header early. */
const oneLine = (text: string): string => text.replaceAll(/[[\]\s\p{Cc}]+/gu, " ").trim()

/** A name without the signs that mean something in a header: nobody is `(master)` by name. */
export const label = (text: string): string => oneLine(text.replaceAll(/[()«»↩#]/g, " "))

const word = (text: string): string => label(text).replaceAll(" ", "_")

const snippet = (text: string): string =>
  head(oneLine(text).replaceAll(/[«»]/g, '"'), SNIPPET_MAX_CHARS)

/** Whatever a model or a terminal may take for a line end. */
const LINE_END = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/

const quote = (text: string): string =>
  text
    .split(LINE_END)
    .map((line) => `> ${line}`)
    .join("\n")
