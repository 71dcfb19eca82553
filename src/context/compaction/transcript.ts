/**
 * A folded part as it is told to the model that sums it up: who said what and what was done, line by line. Every
 * line of people and tools is quoted, so that nothing within them passes for the frame around them.
 */
import { cutMiddle } from "../../lib/text.ts"
import { isMachineText } from "../../schema/machine-text.ts"
import type { Message } from "../../schema/message.ts"
import { shortInput } from "../elide.ts"
import { type Pair, pairsOf } from "../exchange.ts"
import type { SpeakerView } from "../fragments/speaker.ts"

/** UTF-16 units of one result: what it showed was used by the answers behind it. */
const RESULT_MAX = 1200
const INPUT_MAX = 600

/**
 * One entry for each message that says something. Notes of the kernel, copies, and results of nothing are left
 * out: they tell of the prompt, not of the work.
 */
export function transcriptOf(messages: readonly Message[], view: SpeakerView): string[] {
  return messages.flatMap((message, at) => {
    const parts =
      message.role === "user" ? said(message) : [...said(message), ...calls(messages, at)]
    if (parts.length === 0) return []
    return [`${headOf(message, view)}\n${parts.join("\n")}`]
  })
}

function headOf({ role, master, sender, created_at }: Message, view: SpeakerView): string {
  const guest = [sender, sender && view.personName(sender)].filter(Boolean).join(" ") || "a guest"
  const who = role === "assistant" ? "you" : master ? "the master" : guest
  const { date, time } = view.stamp(Date.parse(created_at))
  return `${who}, ${date} ${time}:`
}

const said = ({ blocks }: Message): string[] =>
  blocks.flatMap((block) => {
    if (block.type === "image") return [`> [picture ${block.id}]`]
    const isSpeech = block.type === "text" && block.text.trim() !== "" && !isMachineText(block.text)
    return isSpeech ? [quoted(block.text)] : []
  })

const calls = (messages: readonly Message[], at: number): string[] =>
  pairsOf(messages, at).map(({ call, result }) => {
    const input = cutMiddle(JSON.stringify(shortInput(call.input)), INPUT_MAX)
    const outcome = outcomeOf(result)
    return `called ${call.name} ${input}${outcome === "" ? "" : `\n${outcome}`}`
  })

function outcomeOf({ output, is_error, uneventful }: Pair["result"]): string {
  if (uneventful || output.trim() === "" || isMachineText(output)) return ""
  return `${is_error ? "it failed:" : "it gave:"}\n${quoted(cutMiddle(output, RESULT_MAX))}`
}

const quoted = (text: string): string => text.trim().replaceAll(/^/gm, "> ")
