/**
 * Who said it. Only the kernel writes the header, and the body stands quoted beneath it, so that no text can
 * speak in another's name. The master alone, in a chat without a surface, needs no header.
 */
import type { Block, Message } from "../../schema/message.ts"

export function speakerBlocks(
  message: Message,
  blocks: Block[],
  personName: (id: string) => string | undefined,
): Block[] {
  if (!needsHeader(message)) return blocks
  const header = speakerHeader(message, personName)
  const quoted = blocks.map((block): Block => {
    return block.type === "text" ? { type: "text", text: quote(block.text) } : block
  })
  const [first, ...rest] = quoted
  if (first?.type !== "text") return [{ type: "text", text: header }, ...quoted]
  return [{ type: "text", text: `${header}\n${first.text}` }, ...rest]
}

const needsHeader = (message: Message): boolean =>
  !message.master || message.sender !== undefined || message.ext_id !== undefined

/** `[#43 p7 Anna ↩#41 «quoted parent»]`; the parts that are not known are left out. */
function speakerHeader(message: Message, personName: (id: string) => string | undefined): string {
  const { sender, ext_id, reply_to_ext_id, reply_to_text } = message
  const parts = [
    ext_id && `#${oneLine(ext_id)}`,
    sender ?? (message.master ? "master" : "guest"),
    sender && personName(sender) && oneLine(personName(sender)!),
    message.master && sender && "(master)",
    reply_to_ext_id && `↩#${oneLine(reply_to_ext_id)}`,
    reply_to_text && `«${oneLine(reply_to_text).slice(0, SNIPPET_MAX)}»`,
  ]
  return `[${parts.filter(Boolean).join(" ")}]`
}

const SNIPPET_MAX = 200

/** Brackets and line ends would let a name or a quote end the header early. */
const oneLine = (text: string): string => text.replaceAll(/[[\]\s]+/g, " ").trim()

const quote = (text: string): string =>
  text
    .split("\n")
    .map((line) => `> ${line}`)
    .join("\n")
