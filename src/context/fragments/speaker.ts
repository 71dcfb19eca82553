/**
 * Who said it. Only the kernel writes the header, and the body stands quoted beneath it, so that no text can
 * speak in another's name. The master alone, in a chat without a surface, needs no header.
 */
import { head } from "../../lib/text.ts"
import type { Block, Message } from "../../schema/message.ts"

type PersonName = (id: string) => string | undefined

/** What is repeated of the message that is answered. */
const SNIPPET_MAX_CHARS = 200

/** The words of a message as the model gets them: as they are, or quoted under a header. */
export function speakerBlocks(message: Message, blocks: Block[], personName: PersonName): Block[] {
  if (blocks.length === 0 || !needsHeader(message)) return blocks
  const header = speakerHeader(message, personName)
  const [first, ...rest] = blocks.map((block): Block => {
    return block.type === "text" ? { type: "text", text: quote(block.text) } : block
  })
  if (first?.type === "text") return [{ type: "text", text: `${header}\n${first.text}` }, ...rest]
  return [{ type: "text", text: header }, first!, ...rest]
}

const needsHeader = (message: Message): boolean =>
  !message.master || message.sender !== undefined || message.ext_id !== undefined

/** `[#43 p7 Anna ↩#41 «quoted parent»]`; the parts that are not known are left out. */
function speakerHeader(message: Message, personName: PersonName): string {
  const { master, sender, ext_id, reply_to_ext_id, reply_to_text } = message
  const name = sender && personName(sender)
  const parts = [
    ext_id && `#${word(ext_id)}`,
    sender,
    name && label(name),
    master ? "(master)" : !sender && "guest",
    reply_to_ext_id && `↩#${word(reply_to_ext_id)}`,
    reply_to_text && `«${snippet(reply_to_text)}»`,
  ]
  return `[${parts.filter(Boolean).join(" ")}]`
}

/** One line without brackets, which would end the header early. */
const oneLine = (text: string): string => text.replaceAll(/[[\]\s\p{Cc}]+/gu, " ").trim()

/** A name without the signs that mean something in a header: nobody is `(master)` by name. */
const label = (text: string): string => oneLine(text.replaceAll(/[()«»↩#]/g, " "))

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
