/** Erasing history: from a message on, or all of it. Nothing brings it back; a branch is the gentle way. */
import { KernelError, notFound } from "../lib/error.ts"
import { decodeMessage } from "./message-row.ts"
import { openTail } from "./pairs.ts"
import { type ChatRoom, rowOf } from "./room.ts"
import { NO_SUMMARY } from "./summaries.ts"

/** How many messages at the end of a chat are searched for calls that lost their results. */
const UNIT_MAX = 256

const NO_ANCHOR = { ctx_tokens: null, ctx_upto: null }

/**
 * Takes the chat back to before a message: it and everything later go, and so does a call whose result went
 * with them. Turns that run are stopped first. Gives the ids of what is gone, oldest first.
 */
export async function rewind(room: ChatRoom, chatId: string, messageId: string): Promise<string[]> {
  rowOf(room, chatId)
  checkMessage(room, chatId, messageId)
  await stop(room, chatId, "the chat was taken back to an earlier message")
  const gone = room.store.write(() => {
    checkMessage(room, chatId, messageId)
    return cutFrom(room, chatId, startOfCut(room, chatId, messageId))
  })
  room.emit(chatId, { type: "messages_changed", reason: "rewind" })
  return gone
}

export async function clear(room: ChatRoom, chatId: string): Promise<void> {
  rowOf(room, chatId)
  await stop(room, chatId, "the chat was cleared")
  room.store.write(() => {
    room.rows.eraseTurns(chatId)
    room.rows.eraseMessages(chatId)
    room.rows.updateChat(chatId, { ...NO_ANCHOR, ...NO_SUMMARY })
    for (const follower of room.followers) follower.cleared?.(chatId)
  })
  room.emit(chatId, { type: "messages_changed", reason: "clear" })
}

/**
 * From within a turn of the chat: what it says stays, and so does what waits behind it. Its files can still be
 * undone, so rooms that follow are not told.
 */
export function clearBehind(room: ChatRoom, chatId: string): number {
  const erased = room.store.write(() => {
    rowOf(room, chatId)
    const count = room.rows.eraseEndedMessages(chatId)
    room.rows.eraseEndedTurns(chatId)
    room.rows.updateChat(chatId, { ...NO_ANCHOR, ...NO_SUMMARY })
    return count
  })
  room.emit(chatId, { type: "messages_changed", reason: "clear" })
  return erased
}

function checkMessage({ rows }: ChatRoom, chatId: string, messageId: string): void {
  if (!rows.message(chatId, messageId)) throw notFound("message of this chat", messageId)
}

/** A turn that somebody began in the meantime must not lose the message it answers. */
async function stop(room: ChatRoom, chatId: string, reason: string): Promise<void> {
  await room.stopTurns(chatId, reason)
  if (!room.isRunning(chatId)) return
  throw new KernelError("conflict", "a turn runs in this chat; wait for its end or cancel it first")
}

/** The message itself, or the call further up that would be left without its result. */
function startOfCut({ rows }: ChatRoom, chatId: string, messageId: string): string {
  let start = messageId
  for (;;) {
    const before = rows.messagesOlder(chatId, start, UNIT_MAX)
    const tail = openTail(before.values().map(decodeMessage))
    if (!tail) return start
    start = tail.caller.id
  }
}

function cutFrom(room: ChatRoom, chatId: string, from: string): string[] {
  const { rows } = room
  rows.eraseTurnsFrom(chatId, from)
  const gone = rows.eraseMessagesFrom(chatId, from)
  const { ctx_upto } = rowOf(room, chatId)
  if (ctx_upto !== null && ctx_upto >= from) rows.updateChat(chatId, NO_ANCHOR)
  // A summary tells of what is gone now.
  const folded = rows.summary(chatId)?.summary_upto ?? null
  if (folded !== null && folded >= from) rows.updateChat(chatId, NO_SUMMARY)
  for (const follower of room.followers) follower.cut?.({ chatId, from })
  return gone
}
