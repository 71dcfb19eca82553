/** Which chat was open last, for each kernel: a client begins where its user left. Losing it costs nothing. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { isObject, tryParseJson } from "../../lib/json.ts"

/** Kernels that one file remembers; the oldest is forgotten. */
const KERNELS_MAX = 100

export interface LastChats {
  get(kernel: string): string | undefined
  set(kernel: string, chatId: string): void
}

/** `kernel` is the path of its database, or its address. A file that cannot be used is no error. */
export function lastChatsIn(file: string): LastChats {
  return {
    get: (kernel) => read(file).get(kernel),
    set: (kernel, chatId) => {
      const chats = read(file)
      chats.delete(kernel)
      chats.set(kernel, chatId)
      write(file, Object.fromEntries([...chats].slice(-KERNELS_MAX)))
    },
  }
}

function read(file: string): Map<string, string> {
  try {
    const value = tryParseJson(readFileSync(file, "utf8"))?.value
    const entries = Object.entries(isObject(value) ? value : {})
    return new Map(
      entries.filter((entry): entry is [string, string] => typeof entry[1] === "string"),
    )
  } catch {
    return new Map()
  }
}

function write(file: string, chats: Record<string, string>): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    const draft = `${file}.${process.pid}`
    writeFileSync(draft, `${JSON.stringify(chats, null, 2)}\n`, { mode: 0o600 })
    renameSync(draft, file)
  } catch {
    // A read-only home: the next start opens a new chat.
  }
}
