/** The conversation as a turn enters it: what folds and settings leave of the past, by where the turn came from. */
import type { FoldedPast } from "../chats/summaries.ts"
import { type Conversation, createConversation } from "../context/conversation.ts"
import { foldedMessage } from "../context/fragments/summary.ts"
import { compactAfter, compactProfile, isListed } from "../context/profile.ts"
import type { TrafficSettings } from "../context/traffic.ts"
import { trafficSettings } from "../context/traffic-settings.ts"
import { isUtterance } from "../context/utterance.ts"
import { liveWindow } from "../context/window.ts"
import type { Chat } from "../schema/chat.ts"
import type { Message } from "../schema/message.ts"
import type { TurnParts } from "./parts.ts"
import type { TurnSpec } from "./spec.ts"

type LoadingParts = Pick<TurnParts, "settings" | "registry" | "messages" | "summaries">

interface Entry {
  spec: Pick<TurnSpec, "id" | "identity" | "source">
  chat: Chat
  /** Messages without a turn that a provider refused as they stand. */
  refusedMessages: ReadonlySet<string>
}

export interface LoadedConversation {
  conversation: Conversation
  /** What is told of the part before it; undefined when nothing is folded. */
  folded: FoldedPast | undefined
}

export function loadConversation(parts: LoadingParts, entry: Entry): LoadedConversation {
  const { spec, chat, refusedMessages } = entry
  const folded = parts.summaries.get(chat.id)
  const messages = parts.messages.forPrompt(chat.id, folded?.upto)
  const isOwn = ({ turn_id }: Message): boolean => turn_id === spec.id
  const own = [...foldedRequest(parts, entry, folded), ...messages.filter(isOwn)]
  // What was admitted after this turn sorts behind it and is none of its past.
  const past = messages.filter(
    (message) => !isOwn(message) && message.id < spec.id && !refusedMessages.has(message.id),
  )
  const shown = [...headOf(parts, chat, { folded, next: past[0] ?? own[0] }), ...past]
  return { folded, conversation: conversationOf(parts, entry, { past: shown, own }) }
}

/** What a running turn was asked stays in sight, also when its own older work is folded. */
function foldedRequest(
  { messages }: LoadingParts,
  { spec, chat }: Entry,
  folded: FoldedPast | undefined,
): Message[] {
  if (folded === undefined) return []
  const own = messages.ofTurn(chat.id, spec.id)
  const answer = own.findIndex(({ role }) => role === "assistant")
  return own.slice(0, answer < 0 ? own.length : answer).filter(({ id }) => id <= folded.upto)
}

/** So many messages at the beginning of a chat are searched for its first words: a branch begins with a mark. */
const FIRST_WORDS_WITHIN = 8

/** The first words of a chat whose folder pins them, and a note where the history goes on in the middle. */
function headOf(
  { settings, messages }: LoadingParts,
  chat: Chat,
  at: { folded: FoldedPast | undefined; next: Message | undefined },
): Message[] {
  if (!at.folded) return []
  const isPinned = isListed(settings.context.pin_first_message_folders, chat.folder)
  const first = isPinned
    ? messages.after(chat.id, "", FIRST_WORDS_WITHIN).find(isUtterance)
    : undefined
  const isFolded = first !== undefined && first.id <= at.folded.upto
  if (!isFolded) return at.next?.role === "assistant" ? [foldedMessage(chat.id)] : []
  return [first, foldedMessage(chat.id)]
}

function conversationOf(
  parts: LoadingParts,
  { spec, chat }: Entry,
  { past, own }: { past: readonly Message[]; own: readonly Message[] },
): Conversation {
  const { context } = parts.settings
  const limit = spec.identity.anchored ? context.telegram.history_limit : 0
  const threshold = compactAfter(context, compactProfile(context, chat, spec.source))
  return createConversation(liveWindow(past, own.filter(isUtterance).length, limit), own, {
    ...trafficOf(parts, chat, spec.identity.anchored),
    squeezeAt: (threshold * context.turn_squeeze_percent) / 100,
  })
}

/** How calls and results of a chat are shown. */
export const trafficOf = (
  { settings: { context }, registry }: Pick<LoadingParts, "settings" | "registry">,
  chat: Pick<Chat, "surface">,
  anchored: boolean,
): TrafficSettings =>
  trafficSettings(
    context,
    (name) => registry.get(name)?.traits ?? {},
    anchored || chat.surface !== null,
  )
