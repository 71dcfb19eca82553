/** The end of ephemeral chats that fell silent: a lead goes with the chats of its sub-agents. */
import type { ChatRoom } from "./room.ts"

/** One pass takes at most so many leads; what is left is due at once again. */
const PASS_MAX = 100

/**
 * Bins what is due, so that no new turn begins there, stops its turns, then erases all of it in one
 * transaction, sub-agents before their leads. A family in which a turn does not end is left to a later pass.
 */
export async function reap(room: ChatRoom): Promise<string[]> {
  const due = room.store.write(() => claim(room))
  if (due.length === 0) return []
  // One turn that cannot be stopped must not keep the others.
  await Promise.allSettled(
    due.flat().map((id) => room.stopTurns(id, "the ephemeral chat has expired")),
  )
  const erased = room.store.write(() => {
    const idle = due.filter((family) => !family.some((id) => room.isRunning(id)))
    const ids = [...new Set(idle.flat())]
    for (const id of ids) {
      for (const follower of room.followers) follower.erased?.(id)
      room.rows.eraseChat(id)
    }
    return ids
  })
  for (const id of erased) room.emit(id, { type: "chat_deleted" })
  return erased
}

/** The families that are due, each with its lead last. */
function claim({ rows, clock, ephemeralTtlMs }: ChatRoom): string[][] {
  const now = clock.now()
  const families = rows.expiredEphemeral(now - ephemeralTtlMs, PASS_MAX).map(rows.family)
  for (const id of families.flat()) {
    if (rows.chat(id)?.deleted_at === null) rows.updateChat(id, { deleted_at: now })
  }
  return families
}

export function nextReapAt(room: ChatRoom): number | undefined {
  const oldest = room.rows.oldestEphemeralAt()
  return oldest === null ? undefined : oldest + room.ephemeralTtlMs
}
