/** A branch: a new chat with a copy of its parent's history. The parent is not touched. */
import { notFound } from "../lib/error.ts"
import type { ForkChat } from "../schema/chat.ts"
import { forkMarker } from "../schema/machine-text.ts"
import { decodeMessage, encodeMessage } from "./message-row.ts"
import { cancelledResults, openTail } from "./pairs.ts"
import { type ChatRoom, titleColumns } from "./room.ts"
import type { ChatRow, MessageRow } from "./store.ts"
import { inheritedSummary } from "./summaries.ts"

/**
 * Copies everything strictly before `before_message`, or throws `not_found`. A unit that the cut leaves open
 * is closed as by a cancel, so that the branch can be answered at once.
 */
export function fork(room: ChatRoom, parent: ChatRow, body: ForkChat): ChatRow {
  const branch = room.store.write(() => {
    if (!room.rows.message(parent.id, body.before_message)) {
      throw notFound("message of this chat", body.before_message)
    }
    const row = branchOf(room, parent, body)
    room.rows.insertChat(row)
    const copy = copyHistory(room, { from: parent, to: row, before: body.before_message })
    const anchor = copy.messageIds.get(parent.ctx_upto ?? "")
    const anchored = {
      ...row,
      ctx_upto: anchor ?? null,
      ctx_tokens: anchor === undefined ? null : parent.ctx_tokens,
    }
    room.rows.updateChat(row.id, { ctx_tokens: anchored.ctx_tokens, ctx_upto: anchored.ctx_upto })
    const newIdOf = (id: string) => copy.messageIds.get(id)
    room.rows.updateChat(row.id, inheritedSummary(room.rows.summary(parent.id), newIdOf))
    for (const follower of room.followers) {
      follower.forked?.({ from: parent.id, to: row.id, newIdOf })
    }
    return anchored
  })
  room.emit(branch.id, { type: "chat_created" })
  return branch
}

/** A branch is an ordinary chat: it inherits how its parent is set up, not whose it is. */
function branchOf(room: ChatRoom, parent: ChatRow, body: ForkChat): ChatRow {
  const now = room.clock.now()
  return {
    ...parent,
    ...titleColumns(body.title ?? parent.title),
    id: room.newId(),
    surface: null,
    lead_chat_id: null,
    ephemeral: 0,
    needs_attention: 0,
    attention_reason: null,
    forked_from: parent.id,
    forked_at_message: body.before_message,
    ctx_tokens: null,
    ctx_upto: null,
    created_at: now,
    updated_at: now,
    deleted_at: null,
  }
}

function copyHistory(
  room: ChatRoom,
  { from, to, before }: { from: ChatRow; to: ChatRow; before: string },
): { messageIds: Map<string, string> } {
  const { rows, newId } = room
  const now = room.clock.now()
  const marker = { type: "text" as const, text: forkMarker(from.title, before) }
  const spoken = { chat_id: to.id, turn_id: null, role: "user" as const, master: true }
  rows.insertMessage(encodeMessage({ ...spoken, blocks: [marker] }, { id: newId(), now }))

  const messageIds = new Map<string, string>()
  const turnIds = new Map<string, string>()
  const copied: MessageRow[] = []
  for (const row of rows.messagesBefore(from.id, before)) {
    const id = newId()
    messageIds.set(row.id, id)
    if (row.turn_id !== null && !turnIds.has(row.turn_id)) turnIds.set(row.turn_id, newId())
    const turn_id = row.turn_id === null ? null : turnIds.get(row.turn_id)!
    copied.push({ ...row, id, chat_id: to.id, turn_id })
  }
  for (const [old, id] of turnIds) rows.copyTurn({ from: old, to: id, chat: to.id, now })
  for (const row of copied) rows.insertMessage(row)
  closeTail(room, copied)
  return { messageIds }
}

/** Results for the calls that the cut took theirs from, in the place and time of the last message. */
function closeTail({ rows, newId }: ChatRoom, copied: readonly MessageRow[]): void {
  const tail = openTail(copied.toReversed().values().map(decodeMessage))
  if (!tail) return
  const { chat_id, turn_id, master } = tail.caller
  const blocks = cancelledResults(tail.calls)
  const now = copied.at(-1)!.created_at
  rows.insertMessage(
    encodeMessage({ chat_id, turn_id, role: "user", master, blocks }, { id: newId(), now }),
  )
}
