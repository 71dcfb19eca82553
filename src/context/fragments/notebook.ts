/** The block `[notebook]`: the agent's own notes of the chat, whole or by name. */

import type { NotesSettings } from "../../notebook/display.ts"
import { wholeNotes } from "../../notebook/display.ts"
import type { NotesMode } from "../../schema/note.ts"
import empty from "./notebook-empty.txt" with { type: "text" }
import inIndex from "./notebook-index.txt" with { type: "text" }
import inline from "./notebook-inline.txt" with { type: "text" }

export interface ShownNote {
  name: string
  description: string
  body: string
  pinned: boolean
}

export interface NotebookPage {
  notes: readonly ShownNote[]
  mode: NotesMode
  settings: NotesSettings
  /** The history is near its fold, or was folded just now: then an empty notebook is told of, too. */
  pressed: boolean
}

/** The lines of the `[state]` block; empty when there is nothing to tell. */
export function notebookText({ notes, mode, settings, pressed }: NotebookPage): string {
  if (notes.length === 0) return pressed ? empty.trim() : ""
  const shown = wholeNotes(notes, mode, settings)
  const others = notes.filter((note) => !shown.has(note))
  const head = mode === "inline" ? inline : inIndex
  return [
    head.trim(),
    ...[...shown].map(wholeNote),
    ...others.map((note) => line(note, mode)),
  ].join("\n")
}

/** Quoted, so that no line within can pass for one of the kernel's own. */
const wholeNote = ({ name, description, body, pinned }: ShownNote): string =>
  `## ${name} — ${description}${pinned ? " (pinned)" : ""}\n${body.replaceAll(/^/gm, "> ")}`

function line({ name, description, pinned }: ShownNote, mode: NotesMode): string {
  const why =
    mode === "inline"
      ? " (no room here in this turn)"
      : pinned
        ? " (pinned, and too long to stand here: chat_note_read)"
        : ""
  return `${name} — ${description}${why}`
}
