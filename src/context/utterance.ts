/** What opens a move of the conversation: words or pictures of a person, never what the kernel put in. */
import { isMachineText } from "../schema/machine-text.ts"
import type { Message } from "../schema/message.ts"

export const isUtterance = ({ role, blocks }: Message): boolean =>
  role === "user" &&
  blocks.some(
    (block) =>
      block.type === "image" ||
      (block.type === "text" && block.text.trim() !== "" && !isMachineText(block.text)),
  )
