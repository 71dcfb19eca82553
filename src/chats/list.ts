/** Which chats a list shows: surfaces, quiet shelves and sub-agents' chats appear only when asked for. */
import { KernelError } from "../lib/error.ts"
import { cleanText } from "../lib/text.ts"
import type { ChatQuery } from "../schema/chat.ts"
import { checkLimit } from "./messages.ts"
import type { ChatRoom } from "./room.ts"
import { AGENTS_FOLDER, DEFAULT_FOLDER } from "./settings.ts"
import type { ChatPosition, ChatRow } from "./store.ts"

export interface FolderCount {
  folder: string
  chats: number
  /** Its chats are not in the common list. */
  quiet: boolean
}

/** One page, the chat with the newest message first. */
export function list(room: ChatRoom, query: ChatQuery): ChatRow[] {
  const { folder, surface, project } = query
  const isCommon = folder === undefined && surface === undefined && project === undefined
  return room.rows.listChats(
    {
      deleted: isTrue(query.deleted),
      folder,
      surface,
      project,
      titleKey: query.title === undefined ? undefined : cleanText(query.title).toLowerCase(),
      hiddenFolders: [
        ...(folder === undefined ? [AGENTS_FOLDER] : []),
        ...(isCommon ? room.quietFolders : []),
      ],
    },
    { limit: checkLimit(query.limit), before: positionOf(room, query.before) },
  )
}

/** All shelves with the number of their chats, the inbox first, then by name. */
export function folders(room: ChatRoom, { surface }: { surface?: string }): FolderCount[] {
  const counts = room.rows.countByFolder({
    deleted: false,
    surface,
    hiddenFolders: [AGENTS_FOLDER],
  })
  const inboxFirst = [
    ...counts.filter(({ folder }) => folder === DEFAULT_FOLDER),
    ...counts.filter(({ folder }) => folder !== DEFAULT_FOLDER),
  ]
  return inboxFirst.map((row) => ({ ...row, quiet: isQuiet(room.quietFolders, row.folder) }))
}

/** A trailing `*` makes a prefix, anything else is an exact name. */
export const isQuiet = (quietFolders: readonly string[], folder: string): boolean =>
  quietFolders.some((pattern) =>
    pattern.endsWith("*") ? folder.startsWith(pattern.slice(0, -1)) : folder === pattern,
  )

function isTrue(value: string | undefined): boolean {
  if (value === undefined || value === "false") return false
  if (value === "true") return true
  throw new KernelError("invalid", `deleted must be true or false, not ${value}`, {
    path: "deleted",
  })
}

function positionOf(room: ChatRoom, before: string | undefined): ChatPosition | undefined {
  if (before === undefined) return undefined
  const row = room.rows.chat(before)
  if (row) return row
  throw new KernelError("invalid", `before must be the id of a chat, and ${before} is none`, {
    path: "before",
  })
}
