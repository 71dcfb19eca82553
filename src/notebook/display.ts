/** How a notebook is shown: whole or as a list, and which pinned notes stand whole in either. */
import type { Config } from "../config/schema.ts"
import type { NotesMode } from "../schema/note.ts"

export type NotesSettings = Config["notes"]

interface Sized {
  body: string
}

export interface NotebookSize {
  /** Of all bodies. */
  chars: number
  notes: number
}

export const sizeOf = (notes: readonly Sized[]): NotebookSize => ({
  chars: notes.reduce((sum, { body }) => sum + body.length, 0),
  notes: notes.length,
})

/** A list goes back to whole notes below this share of the limits, so that one at the border does not flicker. */
const RETURN_SHARE = 0.8

/** By size, and by how the notebook was shown before: a change costs the provider's cache the whole prompt. */
export function modeFor(
  { chars, notes }: NotebookSize,
  before: NotesMode | undefined,
  { inline_max_chars, inline_max_notes }: NotesSettings,
): NotesMode {
  const share = before === "index" ? RETURN_SHARE : 1
  const isSmall =
    chars <= Math.floor(inline_max_chars * share) && notes <= Math.ceil(inline_max_notes * share)
  return isSmall ? "inline" : "index"
}

/** Characters of pinned notes: one of legal size can always be pinned. */
export const pinBudget = ({ pinned_chars, max_note_chars }: NotesSettings): number =>
  Math.max(pinned_chars, max_note_chars)

/**
 * The notes that stand whole in a prompt. A turn keeps the view that it began with, so a notebook that grows in
 * mid-turn is shown whole as far as a notebook may grow at all.
 */
export function wholeNotes<T extends Sized & { pinned: boolean }>(
  notes: readonly T[],
  mode: NotesMode,
  settings: NotesSettings,
): Set<T> {
  if (mode === "index") return quotedPins(notes, settings)
  let left = Math.max(settings.compact_at_chars, settings.inline_max_chars)
  return new Set(
    notes.filter(({ body }) => {
      left -= body.length
      return left >= 0
    }),
  )
}

/** The pinned notes that stand whole in a list. One that does not fit hides none behind it. */
export function quotedPins<T extends Sized & { pinned: boolean }>(
  notes: readonly T[],
  settings: NotesSettings,
): Set<T> {
  const quoted = new Set<T>()
  let left = pinBudget(settings)
  for (const note of notes) {
    if (!note.pinned || note.body.length > left || quoted.size >= settings.pinned_max) continue
    quoted.add(note)
    left -= note.body.length
  }
  return quoted
}
