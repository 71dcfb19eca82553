/** Names a new chat by what was said first, with a model when one is configured for it. */
import { errorText } from "../lib/error.ts"
import { firstLine, head } from "../lib/text.ts"
import { complete } from "../llm/complete.ts"
import type { Usage } from "../schema/usage.ts"
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
    parts.store.write(() => recordSpend(parts, spec, { model, ...answer }))
    if ("failure" in answer) throw new Error(answer.failure.message)
    const title = cleanTitle(answer.text)
    // Whoever named the chat meanwhile knows better.
    const isDerived = parts.chats.get(spec.chatId).title === titleOf({}, first)
    if (title !== "" && isDerived) parts.chats.patch(spec.chatId, { title })
  } catch (error) {
    parts.log.warn("no title from the model", { chat_id: spec.chatId, error: errorText(error) })
  }
}

/** A failed attempt may have cost, too. */
function recordSpend(
  parts: TurnParts,
  { chatId, id: turnId }: TurnSpec,
  { model, usage }: { model: string; usage: Usage },
): void {
  if (usage.prompt_tokens + usage.completion_tokens === 0) return
  parts.spend.record({ chatId, turnId, source: "title", model, usage, reasoningCost: null })
}

/** What models wrap around a title, in any order: quotes, emphasis, a final dot, `Title:`. */
const WRAPPINGS = [/^(?:title|name)\s*:\s*/i, /^["'‘’«“„`*#\s]+/, /["'‘’»“”`*\s]+$/, /\.$/]

/** A title out of what a model answered: its first line without wrappings; empty when nothing is left. */
export function cleanTitle(text: string): string {
  let title = firstLine(text, TITLE_MAX_CHARS)
  for (;;) {
    const bare = WRAPPINGS.reduce((rest, wrapping) => rest.replace(wrapping, ""), title)
    if (bare === title) return title
    title = bare
  }
}
