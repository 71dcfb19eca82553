/** The conversation as a turn enters it: what the settings leave of the past, by where the turn came from. */
import { type Conversation, createConversation } from "../context/conversation.ts"
import { compactAfter, compactProfile } from "../context/profile.ts"
import { isUtterance } from "../context/utterance.ts"
import { liveWindow } from "../context/window.ts"
import type { Chat } from "../schema/chat.ts"
import type { Message } from "../schema/message.ts"
import type { TurnParts } from "./parts.ts"
import type { TurnSpec } from "./spec.ts"

export function beginConversation(
  { settings: { context }, registry }: Pick<TurnParts, "settings" | "registry">,
  at: {
    spec: Pick<TurnSpec, "identity" | "source">
    chat: Chat
    past: readonly Message[]
    own: readonly Message[]
  },
): Conversation {
  const { spec, chat, past, own } = at
  const { anchored } = spec.identity
  const limit = anchored ? context.telegram.history_limit : 0
  const fromSurface = anchored || chat.surface !== null
  return createConversation(liveWindow(past, own.filter(isUtterance).length, limit), own, {
    window: { exchanges: context.tool_result_keep, chars: context.tool_result_keep_chars },
    past: fromSurface ? context.telegram.past_tool_traffic : context.past_tool_traffic,
    limits: {
      maxChars: context.tool_result_max_chars,
      readerChars: context.reader_result_max_chars,
    },
    traits: (name) => registry.get(name)?.traits ?? {},
    squeezeAt:
      (compactAfter(context, compactProfile(chat, spec.source)) * context.turn_squeeze_percent) /
      100,
  })
}
