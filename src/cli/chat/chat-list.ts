/** The list of chats and shelves as it is filtered, kept up with what the feed tells. */
import type { Chat } from "../../schema/chat.ts"
import { coalesced } from "./coalesce.ts"
import type { KernelClient } from "./kernel-client.ts"
import type { WireEvent } from "./read-events.ts"
import type { ChatFilter, Folder } from "./session.ts"

/** Older chats are found by their title. */
const CHATS_MAX = 200
/** Many changes often come together. */
const RELOAD_PAUSE_MS = 100

const CHANGES: ReadonlySet<string> = new Set([
  ...["chat_created", "chat_changed", "chat_deleted", "chat_restored"],
  ...["accepted", "done", "error", "message.silent", "messages_changed"],
])

export type ChatListing = ReturnType<typeof createChatList>

export function createChatList(client: KernelClient, onChange: () => void) {
  let filter: ChatFilter = {}
  let chats: readonly Chat[] = []
  let folders: readonly Folder[] = []

  /** What was asked for last. Answers may come in another order: an older one is dropped. */
  let asked: ChatFilter = filter
  let newest: Promise<void> = Promise.resolve()

  /** Settles when the list is as it was asked for last. Throws ClientError and leaves everything as it was. */
  const load = (wanted: ChatFilter = asked): Promise<void> => {
    newest = ask(wanted)
    return newest
  }

  const ask = async (wanted: ChatFilter): Promise<void> => {
    // Each question is an object of its own, by which its answer is known.
    const question = { ...wanted }
    asked = question
    const { folder, deleted } = question
    const query = {
      limit: CHATS_MAX,
      ...(folder !== undefined && { folder }),
      ...(deleted && { deleted: "true" }),
    }
    try {
      const [freshChats, freshFolders] = await Promise.all([client.chats(query), client.folders()])
      if (asked !== question) return newest
      filter = question
      chats = freshChats
      folders = freshFolders
      onChange()
    } catch (error) {
      if (asked !== question) return newest
      asked = filter
      throw error
    }
  }
  const reload = coalesced(() => load(), RELOAD_PAUSE_MS)

  return {
    load,
    filter: () => filter,
    chats: () => chats,
    folders: () => folders,
    handle: (event: WireEvent): void => {
      if (CHANGES.has(event.type)) reload()
    },
  }
}
