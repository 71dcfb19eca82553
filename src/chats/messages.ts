/** Messages of chats: appended and never rewritten, read by pages or as a whole for a prompt. */
import type { Clock } from "../lib/clock.ts"
import { KernelError, notFound } from "../lib/error.ts"
import type { NewId } from "../lib/id.ts"
import type { Message } from "../schema/message.ts"
import type { Store } from "../store/open.ts"
import { decodeMessage, encodeMessage, type NewMessage } from "./message-row.ts"
import { callsOf, resultIdsOf } from "./pairs.ts"
import { AFTER_ALL, type ChatStore, createChatStore, type MessageRow, NO_LIMIT } from "./store.ts"

export const PAGE_LIMITS = { default: 50, max: 500 } as const

/** How far back a page looks for the calls whose results it begins with. */
const UNIT_MAX = 256

export interface PageQuery {
  /** 1 to 500, 50 when absent. */
  limit?: number | undefined
  /** A message id: the page ends right before it. */
  before?: string | undefined
  /** A message id: the page holds it in its middle. */
  around?: string | undefined
}

export interface MessagesOptions {
  store: Store
  clock: Clock
  newId: NewId
  /** Told of each append, within its transaction. */
  appended?: () => void
}

export type Messages = ReturnType<typeof createMessages>

export function createMessages(options: MessagesOptions) {
  const rows = createChatStore(options.store.db)
  return {
    /**
     * Stores the drafts in order, on disk when it returns (or with the caller's own transaction), and
     * gives them as they were stored: text is cleaned of what cannot be stored. A chat that does not
     * exist is `not_found`, and then nothing is stored.
     */
    append: (drafts: readonly NewMessage[]): Message[] => append(rows, options, drafts),
    /**
     * The newest messages, oldest first within the page. It never begins with a result whose call lies
     * before it: then it is longer than `limit` by the messages that complete the unit. A cursor that is
     * no message of this chat is `invalid`. A chat without messages, or none at all, gives an empty page.
     */
    page: (chatId: string, query: PageQuery): Message[] => page(rows, chatId, query),
    /**
     * All, oldest first, without the turns that a provider refused as they stood; only what comes after a
     * message when one is given (it need not exist any more).
     */
    forPrompt: (chatId: string, after = ""): Message[] => {
      const excluded = rows.excludedTurns(chatId)
      const all = rows.messagesNewer(chatId, after, NO_LIMIT)
      const kept = excluded.size === 0 ? all : all.filter((row) => !excluded.has(row.turn_id ?? ""))
      return kept.map(decodeMessage)
    },
    get: (chatId: string, id: string): Message | undefined => {
      const row = rows.message(chatId, id)
      return row ? decodeMessage(row) : undefined
    },
    ofTurn: (chatId: string, turnId: string): Message[] =>
      rows.messagesOfTurn(chatId, turnId).map(decodeMessage),
    /** The messages right after this one, oldest first. */
    after: (chatId: string, id: string, limit: number): Message[] =>
      rows.messagesNewer(chatId, id, limit).map(decodeMessage),
    /** Ids of the turns that run in this chat. */
    runningTurns: (chatId: string): Set<string> => rows.runningTurns(chatId),
  }
}

function append(
  rows: ChatStore,
  { store, clock, newId, appended }: MessagesOptions,
  drafts: readonly NewMessage[],
): Message[] {
  appended?.()
  return store.write(() => {
    const now = clock.now()
    for (const chatId of new Set(drafts.map((draft) => draft.chat_id))) {
      if (!rows.touchChat(chatId, now)) throw notFound("chat", chatId)
    }
    return drafts.map((draft) => {
      const row = encodeMessage(draft, { id: newId(), now })
      rows.insertMessage(row)
      return decodeMessage(row)
    })
  })
}

function page(rows: ChatStore, chatId: string, query: PageQuery): Message[] {
  const limit = checkLimit(query.limit)
  if (query.before !== undefined && query.around !== undefined) {
    throw new KernelError("invalid", "before and around exclude each other: give one of them", {
      path: "around",
    })
  }
  const found =
    query.around === undefined
      ? rows.messagesOlder(chatId, checkCursor(rows, chatId, query), limit).reverse()
      : rowsAround(rows, chatId, { id: query.around, limit })
  return completeFirstUnit(rows, chatId, found.map(decodeMessage))
}

/** The limit of a page, or `invalid`. */
export function checkLimit(limit: number = PAGE_LIMITS.default): number {
  if (Number.isInteger(limit) && limit >= 1 && limit <= PAGE_LIMITS.max) return limit
  throw new KernelError(
    "invalid",
    `limit must be a whole number from 1 to ${PAGE_LIMITS.max}, not ${limit}`,
    { path: "limit" },
  )
}

export const badCursor = (path: "before" | "around", id: string): KernelError =>
  new KernelError("invalid", `${path} must name a message of this chat, and ${id} is none`, {
    path,
  })

function checkCursor(rows: ChatStore, chatId: string, { before }: PageQuery): string {
  if (before === undefined) return AFTER_ALL
  if (!rows.message(chatId, before)) throw badCursor("before", before)
  return before
}

/** Half of the page lies after the message; near the end of the chat older ones fill it up. */
function rowsAround(
  rows: ChatStore,
  chatId: string,
  { id, limit }: { id: string; limit: number },
): MessageRow[] {
  const middle = rows.message(chatId, id)
  if (!middle) throw badCursor("around", id)
  const newer = rows.messagesNewer(chatId, id, Math.floor(limit / 2))
  const room = limit - 1 - newer.length
  const older = room > 0 ? rows.messagesOlder(chatId, id, room).reverse() : []
  return [...older, middle, ...newer.slice(0, limit - 1)]
}

function completeFirstUnit(rows: ChatStore, chatId: string, found: Message[]): Message[] {
  const [first] = found
  if (!first) return found
  const wanted = new Set(resultIdsOf(first))
  if (wanted.size === 0) return found
  const before = rows.messagesOlder(chatId, first.id, UNIT_MAX).map(decodeMessage)
  const caller = before.findIndex((message) => callsOf(message).some((call) => wanted.has(call.id)))
  return [...before.slice(0, caller + 1).reverse(), ...found]
}
