/**
 * What the agent knows of files, by chat: a file is only replaced as a whole by who knows what it holds now.
 * Kept in memory; after a restart the agent reads again.
 */
import { sha256 } from "../lib/sha256.ts"
import { ToolFailure } from "../tools/tool.ts"
import type { Hands } from "./hands.ts"

export interface FileKey {
  chatId: string
  /** As hands name it. */
  machine: string
  /** As hands resolve it. */
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
  /** The agent changed a place of this file: who knew the whole before knows it now. */
  changed(key: FileKey, former: Uint8Array, next: Uint8Array): void
  forget(chatId: string): void
}

const CHATS_MAX = 200
const FILES_MAX = 1000

export function createSeenFiles(): SeenFiles {
  const chats = new Map<string, Map<string, Seen>>()
  const nameOf = ({ machine, path }: FileKey): string => `${machine}\0${path}`
  const last: SeenFiles["last"] = (key) => chats.get(key.chatId)?.get(nameOf(key))
  const saw: SeenFiles["saw"] = (key, seen) => {
    const files = chats.get(key.chatId) ?? new Map<string, Seen>()
    files.delete(nameOf(key))
    files.set(nameOf(key), seen)
    dropOldest(files, FILES_MAX)
    chats.delete(key.chatId)
    chats.set(key.chatId, files)
    dropOldest(chats, CHATS_MAX)
  }
  return {
    saw,
    last,
    changed: (key, former, next) => {
      if (last(key)?.sha256 === sha256(former)) saw(key, { sha256: sha256(next) })
    },
    forget: (chatId) => void chats.delete(chatId),
  }
}

function dropOldest(map: Map<string, unknown>, max: number): void {
  if (map.size > max) map.delete(map.keys().next().value!)
}

/**
 * Refuses to replace a file whose content the agent does not know: it never read it here, or somebody else wrote
 * it since. An empty file holds nothing to lose.
 * @throws ToolFailure that says to read it
 */
export async function refuseUnseen(
  seen: SeenFiles,
  { chatId, hands, path, now }: { chatId: string; hands: Hands; path: string; now: Uint8Array },
): Promise<void> {
  if (now.length === 0) return
  const known = seen.last({ chatId, machine: hands.name, path })
  if (!known)
    throw new ToolFailure("it is there already and was not read in this chat; read it first")
  if (!(await isAsSeen(known, { hands, path, now }))) {
    throw new ToolFailure("it was changed since it was read; read it again")
  }
}

/** A large file was read in part, so its stamp tells. */
async function isAsSeen(
  known: Seen,
  { hands, path, now }: { hands: Hands; path: string; now: Uint8Array },
): Promise<boolean> {
  if (known.sha256 !== undefined) return known.sha256 === sha256(now)
  const { stamp } = await hands.read(path, { offset: 0, size: 0 })
  return stamp !== undefined && stamp === known.stamp
}
