/**
 * What the agent knows of files, by chat: a file is only replaced as a whole by who knows what it holds now.
 * Kept in memory; after a restart the agent reads again.
 */

export interface FileKey {
  chatId: string
  machine: string
  path: string
}

/** What was seen, in one or both ways. */
export interface Seen {
  /** Of all bytes. */
  sha256?: string
  /** As the machine told it with a part. */
  stamp?: string
}

export interface SeenFiles {
  saw(key: FileKey, seen: Seen): void
  last(key: FileKey): Seen | undefined
  forget(chatId: string): void
}

const CHATS_MAX = 200
const FILES_MAX = 1000

export function createSeenFiles(): SeenFiles {
  const chats = new Map<string, Map<string, Seen>>()
  const nameOf = ({ machine, path }: FileKey): string => `${machine}\0${path}`
  return {
    saw: (key, seen) => {
      const files = chats.get(key.chatId) ?? new Map<string, Seen>()
      files.delete(nameOf(key))
      files.set(nameOf(key), seen)
      dropOldest(files, FILES_MAX)
      chats.delete(key.chatId)
      chats.set(key.chatId, files)
      dropOldest(chats, CHATS_MAX)
    },
    last: (key) => chats.get(key.chatId)?.get(nameOf(key)),
    forget: (chatId) => void chats.delete(chatId),
  }
}

function dropOldest(map: Map<string, unknown>, max: number): void {
  if (map.size > max) map.delete(map.keys().next().value!)
}
