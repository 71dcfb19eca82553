/** Folds a chat on its owner's word. */
import type { Chat } from "../../schema/chat.ts"
import type { KernelClient } from "./kernel-client.ts"

/** A sentence about what was folded. Throws ClientError for what the kernel refuses. */
export async function compactChat(
  client: Pick<KernelClient, "compact">,
  chat: Pick<Chat, "id"> | undefined,
): Promise<string> {
  if (chat === undefined) return "there is no chat yet"
  const { folded, messages, freed_tokens, reason } = await client.compact(chat.id)
  if (!folded) return `nothing was folded: ${reason}`
  return `${messages} messages are folded, about ${freed_tokens.toLocaleString("en")} tokens are free`
}
