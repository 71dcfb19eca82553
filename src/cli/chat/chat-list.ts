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

  /** Throws ClientError and leaves everything as it was. */
  const load = async (wanted: ChatFilter = filter): Promise<void> => {
    const { folder, deleted } = wanted
    const query = {
      limit: CHATS_MAX,
      ...(folder !== undefined && { folder }),
      ...(deleted && { deleted: "true" }),
    }
    const [freshChats, freshFolders] = await Promise.all([client.chats(query), client.folders()])
    filter = wanted
    chats = freshChats
    folders = freshFolders
    onChange()
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
