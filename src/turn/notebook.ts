/** The notebook in a turn: how it is shown, settled at the entry, and its rebuild at the end. */
import { notebookText } from "../context/fragments/notebook.ts"
import { createNotesView, type NotesView } from "../notebook/view.ts"
import type { NotesMode } from "../schema/note.ts"
import type { TurnParts } from "./parts.ts"
import type { RunningTurn } from "./running-turn.ts"
import type { TurnSpec } from "./spec.ts"

/** Undefined for a turn that is shown no notebook: it is the master's and his agent's, and no sub-agent's. */
export function enterNotebook(
  { notebook }: Pick<TurnParts, "notebook">,
  { chatId, identity }: Pick<TurnSpec, "chatId" | "identity">,
): NotesView | undefined {
  if (!notebook || !identity.master || identity.agent) return undefined
  return createNotesView(notebook.enter(chatId))
}

/** The block as the next request tells it: what was saved a step ago stands in it. */
export const notebookOf = (parts: TurnParts, { spec, notes, window }: RunningTurn): string =>
  notes ? pageOf(parts, spec.chatId, { mode: notes.mode, pressed: window !== "" }) : ""

/** The block of the chat's next turn. */
export function notebookAhead(parts: TurnParts, chatId: string): string {
  const mode = parts.notebook?.nextMode(chatId)
  return mode === undefined ? "" : pageOf(parts, chatId, { mode, pressed: false })
}

function pageOf(
  { notebook }: TurnParts,
  chatId: string,
  how: { mode: NotesMode; pressed: boolean },
): string {
  if (!notebook) return ""
  return notebookText({ notes: notebook.ofChat(chatId), settings: notebook.settings, ...how })
}

export async function tidyNotebook(
  { notebook }: TurnParts,
  { spec, notes, model, signal }: RunningTurn,
): Promise<void> {
  if (!notes) return
  await notebook?.tidy({ chatId: spec.chatId, turnId: spec.id, model, signal })
}
