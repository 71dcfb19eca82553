/** Chats: made, set up, listed, binned, branched, cut and reaped. */
import { isoTime } from "../lib/clock.ts"
import { KernelError, notFound } from "../lib/error.ts"
import { cleanText } from "../lib/text.ts"
import type { Chat, ChatPatch, ChatQuery, ForkChat, NewChat, WorkdirOn } from "../schema/chat.ts"
import type { Effort } from "../schema/effort.ts"
import type { CompactProfile } from "../schema/summary.ts"
import { clear, clearBehind, rewind } from "./cut.ts"
import { fork } from "./fork.ts"
import { type FolderCount, folders, list } from "./list.ts"
import { nextReapAt, reap } from "./reap.ts"
import { type ChatRoom, type ChatsOptions, rowOf, titleColumns } from "./room.ts"
import { checkFolder, checkSurface, checkWorkdir, cleanName } from "./settings.ts"
import { type ChatRow, createChatStore } from "./store.ts"

export interface ContextAnchor {
  /** Size of the context by the provider's own count. */
  tokens: number
  /** The message it was counted at. */
  messageId: string
}

export type Chats = ReturnType<typeof createChats>

export function createChats(options: ChatsOptions) {
  const rows = createChatStore(options.store.db)
  const room: ChatRoom = { ...options, rows, followers: options.followers ?? [] }
  const set = (id: string, values: Partial<ChatRow>) => update(room, id, values)
  return {
    /** Makes a chat; a sub-agent's chat names its lead's. */
    create: (body: NewChat, more: { leadChatId?: string } = {}): Chat => create(room, body, more),
    /** A chat, also one in the bin; `not_found` for an unknown id. */
    get: (id: string): Chat => toChat(room, rowOf(room, id)),
    list: (query: ChatQuery): Chat[] => list(room, query).map((row) => toChat(room, row)),
    folders: (query: { surface?: string } = {}): FolderCount[] => folders(room, query),
    patch: (id: string, body: ChatPatch): Chat => set(id, patched(body)),

    /** null or empty moves the chat to the inbox. */
    setFolder: (id: string, folder: string | null): Chat =>
      set(id, { folder: checkFolder(folder) }),
    setModel: (id: string, model: string | null): Chat =>
      set(id, { model: checkModel(room, model) }),
    setEffort: (id: string, effort: Effort | null): Chat => set(id, { effort }),
    /** null: chosen by what the chat is. */
    setCompactProfile: (id: string, profile: CompactProfile | null): Chat =>
      set(id, { compact_profile: profile }),
    setWorkdir: (id: string, body: { workdir: string | null; workdir_on?: string }): Chat =>
      set(id, checkWorkdir(body)),
    /** A set that works in a certain directory takes the chat there. */
    setToolset: (id: string, toolset: string | null): Chat =>
      set(id, toolsetColumns(room, toolset)),
    /** Takes a set off every chat that has it. */
    dropToolset: (name: string): void => {
      const pinned = room.store.write(() => rows.dropToolset(name))
      for (const id of pinned) room.emit(id, { type: "chat_changed" })
    },

    /** To the bin; running turns are stopped. */
    remove: (id: string): Promise<void> => remove(room, id),
    /** To the bin; a turn that runs there comes to its end. */
    bin: (id: string): void => bin(room, id),
    restore: (id: string): Chat => restore(room, id),
    /** Erases messages and turns and keeps the chat; running turns are stopped first. */
    clear: (id: string): Promise<void> => clear(room, id),
    /** Erases all but what running and waiting turns say; gives the number of messages. */
    clearBehind: (id: string): number => clearBehind(room, id),
    /** A new chat with a copy of everything strictly before a message. */
    fork: (id: string, body: ForkChat): Chat => toChat(room, fork(room, rowOf(room, id), body)),
    /** Erases a message and everything later; gives the ids of what is gone, oldest first. */
    rewind: (id: string, messageId: string): Promise<string[]> => rewind(room, id, messageId),
    /** Erases the ephemeral chats that were silent for too long; gives their ids. */
    reap: (): Promise<string[]> => reap(room),
    /** When the next ephemeral chat is due, in milliseconds; undefined when there is none. */
    nextReapAt: (): number | undefined => nextReapAt(room),

    /** The last count of the context; undefined when the chat has none that still holds. */
    contextAnchor: (id: string): ContextAnchor | undefined => anchorOf(rowOf(room, id)),
    /** Tells nobody: the count is not a property that clients draw. */
    setContextAnchor: (id: string, tokens: number, messageId: string): void => {
      if (!rows.updateChat(id, { ctx_tokens: tokens, ctx_upto: messageId })) {
        throw notFound("chat", id)
      }
    },
  }
}

function create(room: ChatRoom, body: NewChat, more: { leadChatId?: string }): Chat {
  const now = room.clock.now()
  const row: ChatRow = {
    id: room.newId(),
    ...titleColumns(body.title ?? ""),
    folder: checkFolder(body.folder),
    surface: checkSurface(body.surface),
    project: cleanName("project", body.project),
    model: checkModel(room, body.model),
    effort: body.effort ?? null,
    toolset: null,
    ...checkWorkdir(body),
    lead_chat_id: more.leadChatId ?? null,
    ephemeral: body.ephemeral ? 1 : 0,
    needs_attention: 0,
    attention_reason: null,
    forked_from: null,
    forked_at_message: null,
    ctx_tokens: null,
    ctx_upto: null,
    compact_profile: null,
    created_at: now,
    updated_at: now,
    deleted_at: null,
  }
  room.store.write(() => {
    room.rows.insertChat(row)
  })
  room.emit(row.id, { type: "chat_created" })
  return toChat(room, row)
}

function update(room: ChatRoom, id: string, values: Partial<ChatRow>): Chat {
  const row = room.store.write(() => {
    const before = rowOf(room, id)
    if (Object.keys(values).length > 0) room.rows.updateChat(id, values)
    return { ...before, ...values }
  })
  room.emit(id, { type: "chat_changed" })
  return toChat(room, row)
}

function patched({ title, project, needs_attention, attention_reason }: ChatPatch) {
  const values: Partial<ChatRow> = {}
  if (title !== undefined) Object.assign(values, titleColumns(title))
  if (project !== undefined) values.project = cleanName("project", project)
  if (attention_reason !== undefined) {
    values.attention_reason = attention_reason === null ? null : cleanText(attention_reason)
  }
  if (needs_attention !== undefined) values.needs_attention = needs_attention ? 1 : 0
  // A reason without a call for attention would only mislead.
  if (needs_attention === false) values.attention_reason = null
  return values
}

function checkModel(room: ChatRoom, value: string | null | undefined): string | null {
  const model = cleanName("model", value)
  const known = model === null ? true : room.isKnownModel(model)
  if (known === true) return model
  throw new KernelError("invalid", known, { path: "model" })
}

function toolsetColumns(room: ChatRoom, value: string | null): Partial<ChatRow> {
  const toolset = cleanName("toolset", value)
  if (toolset === null) return { toolset }
  const { workdir, workdir_on } = room.toolsetPlace(toolset)
  return { toolset, ...(workdir !== null && { workdir, workdir_on }) }
}

/** To the bin; claimed on disk first, so that no new turn begins while the running ones end. */
async function remove(room: ChatRoom, id: string): Promise<void> {
  bin(room, id)
  await room.stopTurns(id, "the chat was deleted")
}

function bin(room: ChatRoom, id: string): void {
  const wasThere = room.store.write(() => {
    if (rowOf(room, id).deleted_at !== null) return false
    room.rows.updateChat(id, { deleted_at: room.clock.now() })
    for (const follower of room.followers) follower.removed?.(id)
    return true
  })
  if (wasThere) room.emit(id, { type: "chat_deleted" })
}

function restore(room: ChatRoom, id: string): Chat {
  const row = room.store.write(() => {
    const before = rowOf(room, id)
    if (before.deleted_at !== null) room.rows.updateChat(id, { deleted_at: null })
    return before
  })
  if (row.deleted_at !== null) room.emit(id, { type: "chat_restored" })
  return toChat(room, { ...row, deleted_at: null })
}

function anchorOf({ ctx_tokens, ctx_upto }: ChatRow): ContextAnchor | undefined {
  if (ctx_tokens === null || ctx_upto === null) return undefined
  return { tokens: ctx_tokens, messageId: ctx_upto }
}

function toChat(room: ChatRoom, row: ChatRow): Chat {
  const sleepAt = room.nextSleepAt?.(row.id)
  return {
    id: row.id,
    title: row.title,
    folder: row.folder,
    surface: row.surface,
    project: row.project,
    model: row.model,
    effort: row.effort as Effort | null,
    toolset: row.toolset,
    compact_profile: row.compact_profile as CompactProfile | null,
    workdir: row.workdir,
    workdir_on: row.workdir_on as WorkdirOn,
    ephemeral: row.ephemeral === 1,
    needs_attention: row.needs_attention === 1,
    attention_reason: row.attention_reason,
    forked_from: row.forked_from,
    forked_at_message: row.forked_at_message,
    running: room.isRunning(row.id),
    created_at: isoTime(row.created_at),
    updated_at: isoTime(row.updated_at),
    deleted_at: row.deleted_at === null ? null : isoTime(row.deleted_at),
    next_sleep_at: sleepAt === undefined ? null : isoTime(sleepAt),
  }
}
