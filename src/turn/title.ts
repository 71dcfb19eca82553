/** Names a new chat by what was said first, with a model when one is configured for it. */
import { errorText } from "../lib/error.ts"
import { firstLine, head } from "../lib/text.ts"
import { complete } from "../llm/complete.ts"
import { titleOf, type Utterance } from "./admission.ts"
import type { TurnParts } from "./parts.ts"
import type { TurnSpec } from "./spec.ts"
import titlePrompt from "./title.txt" with { type: "text" }

const TITLE_MAX_CHARS = 80
const TITLE_MAX_TOKENS = 64
const SAID_MAX_CHARS = 2000
const TITLE_TIMEOUT_MS = 60_000

/** Runs after the turn; a failure leaves the derived title and is only logged. */
export async function giveTitle(parts: TurnParts, spec: TurnSpec, first: Utterance): Promise<void> {
  const model = parts.settings.summaryModel
  if (model === undefined) return
  const derived = titleOf(first)
  try {
    const said = first.blocks.map((block) => (block.type === "text" ? block.text : "")).join(" ")
    const answer = await complete(parts.router, {
      model,
      system: titlePrompt.trim(),
      messages: [{ role: "user", blocks: [{ type: "text", text: head(said, SAID_MAX_CHARS) }] }],
      maxTokens: TITLE_MAX_TOKENS,
      spender: { chat: spec.chatId },
      signal: AbortSignal.timeout(TITLE_TIMEOUT_MS),
    })
    if ("failure" in answer) throw new Error(answer.failure.message)
    const title = cleanTitle(answer.text)
    const unchanged = parts.chats.get(spec.chatId).title === derived
    parts.store.write(() => {
      const { usage } = answer
      const { chatId, id: turnId } = spec
      parts.spend.record({
        ...{ chatId, turnId, source: "title", model: answer.model, usage },
        reasoningCost: null,
      })
      if (title !== "" && unchanged) parts.chats.patch(chatId, { title })
    })
  } catch (error) {
    parts.log.warn("no title from the model", { chat_id: spec.chatId, error: errorText(error) })
  }
}

/** What models wrap around a title: quotes, a final dot, more lines, `Title:`. */
export function cleanTitle(text: string): string {
  const line = firstLine(text, TITLE_MAX_CHARS)
  return line
    .replace(/^title\s*:\s*/i, "")
    .replace(/^["'«“„`*]+|["'»”“`*]+$/g, "")
    .replace(/\.$/, "")
    .trim()
}
