/** What of a message is searched: speech, and apart from it what the kernel and its tools put in. */
import { head } from "../lib/text.ts"
import { isMachineText } from "../schema/machine-text.ts"
import type { Block } from "../schema/message.ts"
import { composed } from "./fold.ts"

/** Characters of one message that are searched; what a pasted book holds beyond is not found. */
export const SPEECH_MAX = 50_000
/** Of one tool's arguments or output, and of all service text of a message. */
export const SERVICE_BLOCK_MAX = 2000
export const SERVICE_MAX = 16_000

export interface Said {
  /** Text of people and of the agent. */
  speech: string
  /** Text that the kernel added in another's name, calls of tools and their results. */
  service: string
}

/** Thoughts are neither: they are no part of what was said. */
export function saidIn(blocks: readonly Block[]): Said {
  const speech: string[] = []
  const service: string[] = []
  for (const block of blocks) {
    if (block.type === "text") (isMachineText(block.text) ? service : speech).push(block.text)
    if (block.type === "tool_use") service.push(cut(callText(block.name, block.input)))
    if (block.type === "tool_result") service.push(cut(block.output))
  }
  return {
    speech: composed(head(speech.join("\n"), SPEECH_MAX)),
    service: composed(head(service.join("\n"), SERVICE_MAX)),
  }
}

const cut = (text: string): string => head(text, SERVICE_BLOCK_MAX)

const callText = (name: string, input: unknown): string => `${name} ${JSON.stringify(input) ?? ""}`
