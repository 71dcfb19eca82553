/** What one running turn knows of the notebook: how it is shown, and which notes it has read. */
import type { NotesMode } from "../schema/note.ts"

export interface NotesView {
  /** Settled at the turn's entry. */
  mode: NotesMode
  /** Bodies that the turn has read or written, by name. */
  known: Map<string, string>
}

export const createNotesView = (mode: NotesMode): NotesView => ({ mode, known: new Map() })
