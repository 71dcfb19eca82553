/**
 * The notebook of a chat: what the agent notes for itself, which outlives the window of history, folds and a
 * cleared chat.
 */
import { type Clock, isoTime } from "../lib/clock.ts"
import { KernelError, notFound } from "../lib/error.ts"
import type { NewId } from "../lib/id.ts"
import { parseJson } from "../lib/json.ts"
import { nearest } from "../lib/text.ts"
import {
  type Notebook as Listing,
  NOTE_LIMITS,
  type NotesMode,
  type PutNote,
} from "../schema/note.ts"
import type { Store } from "../store/open.ts"
import { checkBody, checkDescription, checkName, checkPin } from "./check-note.ts"
import { modeFor, type NotesSettings, sizeOf } from "./display.ts"
import {
  createNotebookStore,
  type NotebookState,
  type NotebookStore,
  type NoteRow,
} from "./store.ts"

export interface NotebookOptions {
  store: Store
  clock: Clock
  newId: NewId
  settings: NotesSettings
}

/** A note as the rooms above see it; times in milliseconds. */
export type StoredNote = Omit<NoteRow, "chat_id" | "pinned"> & { pinned: boolean }

export type Notebook = ReturnType<typeof createNotebook>

interface Room extends NotebookOptions {
  rows: NotebookStore
}

export function createNotebook(options: NotebookOptions) {
  const { store, clock } = options
  const rows = createNotebookStore(store.db)
  const room: Room = { ...options, rows }
  return {
    settings: options.settings,
    /** Oldest first; none for an unknown chat. */
    ofChat: (chatId: string): StoredNote[] => rows.list(chatId).map(asNote),
    count: (chatId: string): number => rows.list(chatId).length,
    /** Throws not_found for an unknown chat. */
    list: (chatId: string): Listing => listing(room, chatId),
    /** How the next turn of the master's would be shown the notebook. Throws not_found. */
    nextMode: (chatId: string): NotesMode => nextMode(room, chatId),
    /** Settles how the turn that begins is shown the notebook. Throws not_found. */
    enter: (chatId: string): NotesMode => {
      const state = stateOf(room, chatId)
      const mode = modeAfter(room, chatId, state)
      // A chat without a mode is shown its notebook whole: its first turn need not wait for the disk to note that.
      if (mode !== (state.notes_mode ?? "inline")) store.write(() => rows.setMode(chatId, mode))
      return mode
    },
    /**
     * Writes a note, a new one or the one of this name: what is left out stays. Throws invalid with the field,
     * and not_found for an unknown chat.
     */
    save: (chatId: string, name: string, draft: PutNote): { note: StoredNote; isNew: boolean } =>
      store.write(() => save(room, chatId, { name, draft })),
    /** False when there was none. Throws not_found for an unknown chat. */
    remove: (chatId: string, name: string): boolean => {
      stateOf(room, chatId)
      return store.write(() => rows.remove(chatId, name))
    },
    /** Somebody has looked at the notebook as it was at this time, by default now. Throws not_found. */
    look: (chatId: string, at?: number): void => {
      stateOf(room, chatId)
      const now = clock.now()
      store.write(() => rows.setSeen(chatId, Math.min(at ?? now, now)))
    },
    /**
     * Puts another notebook in place of `before`, which goes to the archive. False when it was changed since
     * `before` was read. Everything counts as looked at.
     */
    replace: (chatId: string, { before, after }: Replacement): boolean =>
      store.write(() => replace(room, chatId, { before, after })),
    /** Puts the archived notebook back, and the present one in its place. Throws not_found without one. */
    restore: (chatId: string): void => {
      stateOf(room, chatId)
      store.write(() => restore(room, chatId))
    },
    /** Branches begin with a copy; only a chat that is gone for good takes its notebook along. */
    follower: {
      forked: ({ from, to }: { from: string; to: string }): void => copy(room, from, to),
    },
  }
}

export interface Replacement {
  before: readonly StoredNote[]
  after: readonly StoredNote[]
}

function stateOf({ rows }: Room, chatId: string): NotebookState {
  const state = rows.state(chatId)
  if (!state) throw notFound("chat", chatId)
  return state
}

const nextMode = (room: Room, chatId: string): NotesMode =>
  modeAfter(room, chatId, stateOf(room, chatId))

function modeAfter(room: Room, chatId: string, { notes_mode }: NotebookState): NotesMode {
  const before = notes_mode as NotesMode | null
  return modeFor(sizeOf(room.rows.list(chatId)), before ?? undefined, room.settings)
}

function listing(room: Room, chatId: string): Listing {
  const { notes_seen_at: seen, archived_at: archived } = stateOf(room, chatId)
  const notes = room.rows.list(chatId).map((row) => {
    const { created_at, updated_at, ...note } = asNote(row)
    return {
      ...note,
      changed: seen === null || updated_at > seen,
      ...{ created_at: isoTime(created_at), updated_at: isoTime(updated_at) },
    }
  })
  const instant = (at: number | null) => (at === null ? null : isoTime(at))
  const mode = nextMode(room, chatId)
  return { notes, mode, seen_at: instant(seen), archived_at: instant(archived) }
}

function save(
  room: Room,
  chatId: string,
  { name, draft }: { name: string; draft: PutNote },
): { note: StoredNote; isNew: boolean } {
  const { rows, clock, settings } = room
  stateOf(room, chatId)
  const before = rows.find(chatId, checkName(name))
  const row = before ? changed(before, draft, settings) : created(room, chatId, { name, draft })
  const isHeavier = before?.pinned !== 1 || row.body.length > before.body.length
  if (row.pinned === 1 && isHeavier) {
    const pinned = rows.list(chatId).filter((one) => one.pinned === 1 && one.id !== row.id)
    checkPin(row, pinned, settings)
  }
  const note = { ...row, updated_at: clock.now() }
  rows.put(note)
  return { note: asNote(note), isNew: before === undefined }
}

function created(
  { rows, clock, newId, settings }: Room,
  chatId: string,
  { name, draft }: { name: string; draft: PutNote },
): NoteRow {
  const count = rows.list(chatId).length
  if (count >= NOTE_LIMITS.notes) {
    throw new KernelError(
      "invalid",
      `the notebook has ${count} notes, ${NOTE_LIMITS.notes} are the most: delete what is finished first`,
    )
  }
  const now = clock.now()
  return {
    ...{ id: newId(), chat_id: chatId, name, prev_body: null, pinned: draft.pinned ? 1 : 0 },
    description: checkDescription(draft.description ?? ""),
    body: checkBody(draft.body ?? "", settings),
    ...{ created_at: now, updated_at: now },
  }
}

function changed(before: NoteRow, draft: PutNote, settings: NotesSettings): NoteRow {
  const { description, body, pinned } = draft
  const row = { ...before }
  if (description !== undefined) row.description = checkDescription(description)
  if (body !== undefined) row.body = checkBody(body, settings)
  if (pinned !== undefined) row.pinned = pinned ? 1 : 0
  // The same words again leave the change before them to be seen.
  if (row.body !== before.body) row.prev_body = before.body
  return row
}

function replace(room: Room, chatId: string, { before, after }: Replacement): boolean {
  const { rows, clock } = room
  const now = rows.list(chatId)
  if (!Bun.deepEquals(now.map(asNote), before)) return false
  archive(room, chatId, now)
  for (const note of after) rows.put(asRow(chatId, note))
  rows.setSeen(chatId, clock.now())
  return true
}

function restore(room: Room, chatId: string): void {
  const { rows } = room
  const archived = rows.archive(chatId)
  if (!archived) {
    throw new KernelError("not_found", "this notebook was never rebuilt: there is no older one")
  }
  archive(room, chatId, rows.list(chatId))
  for (const row of parseJson(archived.notes) as NoteRow[]) rows.put(row)
}

/** Empties the notebook into its archive. */
function archive({ rows, clock }: Room, chatId: string, notes: readonly NoteRow[]): void {
  rows.putArchive(chatId, { notes: JSON.stringify(notes), archived_at: clock.now() })
  rows.removeAll(chatId)
}

function copy({ rows, newId }: Room, from: string, to: string): void {
  for (const row of rows.list(from)) rows.put({ ...row, id: newId(), chat_id: to })
  rows.setMode(to, rows.state(from)?.notes_mode ?? null)
}

const asNote = ({ chat_id: _, pinned, ...note }: NoteRow): StoredNote => ({
  ...{ ...note, pinned: pinned === 1 },
})

const asRow = (chat_id: string, { pinned, ...note }: StoredNote): NoteRow => ({
  ...{ ...note, chat_id, pinned: pinned ? 1 : 0 },
})

/** Throws not_found for a name that no note has. */
export function unknownNote(name: string, known: readonly string[]): KernelError {
  const guess = nearest(name, known)
  const hint = guess === undefined ? "" : `; did you mean ${guess}?`
  return new KernelError("not_found", `no note ${name}${hint}`)
}
