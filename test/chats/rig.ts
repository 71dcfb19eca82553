/** A chats room on a real database file, with a clock that the test moves and a record of what was told. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createChats } from "../../src/chats/chats.ts"
import { createItems } from "../../src/chats/items.ts"
import type { NewMessage } from "../../src/chats/message-row.ts"
import { createMessages } from "../../src/chats/messages.ts"
import type { ChatsOptions } from "../../src/chats/room.ts"
import { manualClock } from "../../src/lib/clock.ts"
import { KernelError } from "../../src/lib/error.ts"
import { uuidV7 } from "../../src/lib/id.ts"
import { silentLog } from "../../src/lib/log.ts"
import type { ChatEvent } from "../../src/schema/event.ts"
import type { Block, Message } from "../../src/schema/message.ts"
import { openStore } from "../../src/store/open.ts"

export const START = Date.parse("2026-01-05T10:00:00Z")
export const DAY_MS = 24 * 60 * 60 * 1000

export type Rig = ReturnType<typeof createRig>

export function createRig(more: Partial<ChatsOptions> = {}) {
  const folder = mkdtempSync(join(tmpdir(), "eva-chats-"))
  const store = openStore({ path: join(folder, "eva.db"), log: silentLog })
  const clock = manualClock(START)
  const newId = uuidV7(clock)
  const events: { chatId: string; event: ChatEvent }[] = []
  const stopped: string[] = []
  const running = new Set<string>()
  const messages = createMessages({ store, clock, newId })
  const chats = createChats({
    store,
    clock,
    newId,
    emit: (chatId, event) => events.push({ chatId, event }),
    quietFolders: ["youtube", "cron", "code"],
    ephemeralTtlMs: DAY_MS,
    isKnownModel: (name) => name === "opus" || `no model named ${name}; did you mean opus?`,
    toolsetPlace: (name) => {
      if (name === "coding") return { workdir: null, workdir_on: "server" }
      if (name === "garden") return { workdir: "/srv/garden", workdir_on: "server" }
      throw new KernelError("invalid", "no such set", { path: "toolset" })
    },
    isRunning: (chatId) => running.has(chatId),
    stopTurns: async (chatId) => {
      stopped.push(chatId)
      running.delete(chatId)
    },
    ...more,
  })
  const items = createItems({ messages, imageUrl: (id) => `http://eva/images/${id}` })
  return {
    ...{ store, clock, newId, events, stopped, running, messages, chats, items },
    close: () => {
      store.close()
      rmSync(folder, { recursive: true, force: true })
    },
    /** Stores a turn row as the turn room would. */
    turn: (chatId: string, more: { excluded?: boolean; state?: string } = {}): string => {
      const id = newId()
      const state = more.state ?? "done"
      store.db
        .query(
          `INSERT INTO turns (id, chat_id, source, state, client_key, excluded, created_at, ended_at)
           VALUES (?, ?, 'api', ?, ?, ?, ?, ?)`,
        )
        .run(id, chatId, state, `key-${id}`, more.excluded ? 1 : 0, clock.now(), clock.now())
      return id
    },
    /** Stores one provider trip as the spend room would. */
    spend: (chatId: string): void => {
      store.db.run(
        `INSERT INTO spend (at, chat_id, source, model, prompt_tokens, completion_tokens,
           reasoning_tokens, cached_tokens, cache_write_tokens, cost_micros)
         VALUES (0, ?, 'api', 'opus', 1, 1, 0, 0, 0, 5)`,
        [chatId],
      )
    },
    /** Every table as it is, for comparing before and after. */
    rows: (table: "chats" | "messages" | "turns" | "spend", chatId: string) => {
      const key = table === "chats" ? "id" : "chat_id"
      return store.db
        .query<Record<string, unknown>, [string]>(
          `SELECT * FROM ${table} WHERE ${key} = ? ORDER BY id`,
        )
        .all(chatId)
    },
  }
}

export const text = (value: string): Block => ({ type: "text", text: value })
export const call = (id: string, name = "shell"): Block => ({
  ...{ type: "tool_use", id, name, input: { cmd: "ls" } },
})
export const result = (id: string, output = "ok", is_error = false): Block => ({
  ...{ type: "tool_result", id, output, is_error },
})

/** Drafts of a chat in a few words. */
export const drafts = (chatId: string, turnId: string | null = null) => ({
  user: (...blocks: Block[]): NewMessage => ({
    ...{ chat_id: chatId, turn_id: turnId, role: "user", blocks, master: true },
  }),
  assistant: (...blocks: Block[]): NewMessage => ({
    ...{ chat_id: chatId, turn_id: turnId, role: "assistant", blocks, master: true, model: "opus" },
  }),
})

/** What a message says, in one line. */
export const gist = (message: Message): string =>
  message.blocks
    .map((block) => {
      if (block.type === "text") return `${message.role}: ${block.text}`
      if (block.type === "tool_use") return `call ${block.id}`
      if (block.type === "tool_result") return `result ${block.id}: ${block.output}`
      return block.type
    })
    .join(" + ")

/** Complaints about pairs: each call is answered once, right after its message, and no result stands alone. */
export function brokenPairs(messages: readonly Message[]): string[] {
  const complaints: string[] = []
  let open = new Set<string>()
  for (const message of messages) {
    const results = message.blocks.filter((block) => block.type === "tool_result")
    for (const { id } of results) if (!open.delete(id)) complaints.push(`result ${id} has no call`)
    if (results.length > 0) continue
    complaints.push(...[...open].map((id) => `call ${id} has no result`))
    open = new Set(message.blocks.filter((block) => block.type === "tool_use").map(({ id }) => id))
  }
  return [...complaints, ...[...open].map((id) => `call ${id} has no result at the end`)]
}

/** The code and the path of what `work` throws. */
export function refusal(work: () => unknown): { code?: unknown; path?: unknown; message: string } {
  try {
    work()
  } catch (error) {
    const { code, path, message } = error as { code?: unknown; path?: unknown; message: string }
    return { code, path, message }
  }
  throw new Error("nothing was thrown")
}
