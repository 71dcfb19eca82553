/** What the parts of the chats room share: its dependencies and the reading of one row. */
import type { Clock } from "../lib/clock.ts"
import { notFound } from "../lib/error.ts"
import type { NewId } from "../lib/id.ts"
import { cleanText } from "../lib/text.ts"
import type { ChatEvent } from "../schema/event.ts"
import type { Store } from "../store/open.ts"
import type { ChatFollower } from "./follower.ts"
import type { Workdir } from "./settings.ts"
import type { ChatRow, ChatStore } from "./store.ts"

export interface ChatsOptions {
  store: Store
  clock: Clock
  newId: NewId
  /** Told after the fact is on disk. */
  emit: (chatId: string, event: ChatEvent) => void
  /** Shelves of automation, left out of the common list; a trailing `*` makes a prefix. */
  quietFolders: readonly string[]
  /** The silence after which an ephemeral chat is reaped. */
  ephemeralTtlMs: number
  /** True, or a sentence that hints at the right name. */
  isKnownModel: (name: string) => true | string
  /** Where a tool set works, null when it does not say. Throws `invalid` for one that is not there. */
  toolsetPlace: (name: string) => Workdir
  /** A turn runs or waits in this chat. */
  isRunning: (chatId: string) => boolean
  /** Cancels the chat's turns; settles when they are over and stored. */
  stopTurns: (chatId: string, reason: string) => Promise<void>
  /** When the chat's own sleep is due, in milliseconds. */
  nextSleepAt?: (chatId: string) => number | undefined
  followers?: readonly ChatFollower[]
}

/** The options and the room's own SQL. */
export interface ChatRoom extends ChatsOptions {
  rows: ChatStore
  followers: readonly ChatFollower[]
}

export function rowOf({ rows }: ChatRoom, id: string): ChatRow {
  const row = rows.chat(id)
  if (!row) throw notFound("chat", id)
  return row
}

/** A title as two columns: as it is shown and as it is searched. */
export function titleColumns(text: string): Pick<ChatRow, "title" | "title_key"> {
  const title = cleanText(text).trim()
  return { title, title_key: title.toLowerCase() }
}
