/** A rebuilt notebook as a model writes it, read back into notes and held against the old ones. */
import { cleanText, head } from "../lib/text.ts"
import { NOTE_LIMITS } from "../schema/note.ts"
import type { NotesSettings } from "./display.ts"
import type { StoredNote } from "./notebook.ts"

export interface DraftNote {
  name: string
  description: string
  body: string
}

export interface Draft {
  notes: DraftNote[]
  /** What did not fit and was cut or left out. */
  trimmed: string[]
}

/** What no line may hold. */
const CONTROLS = /[\p{Cc}\u2028\u2029]+/gu
const HEAD = /^## +([^|]+?) *\| *(.*)$/

/** Notes in the form `## name | description` and body; text before the first is no part of it. */
export function readDraft(text: string, { max_note_chars }: NotesSettings): Draft {
  const draft: Draft = { notes: [], trimmed: [] }
  for (const { title, about, lines } of sectionsOf(text)) {
    const body = lines.join("\n").trim()
    const name = slug(title)
    const isDouble = draft.notes.some((note) => note.name === name)
    if (name === "" || body === "" || isDouble) {
      draft.trimmed.push(`${title}: ${isDouble ? "its name is taken" : "no note"}`)
      continue
    }
    const description = about.replaceAll(CONTROLS, " ").trim() || name
    const note = {
      name,
      description: head(description, NOTE_LIMITS.description).trim(),
      body: head(body, max_note_chars).trim(),
    }
    draft.notes.push(note)
    if (name !== title) draft.trimmed.push(`${title}: its name became ${name}`)
    if (note.description !== description) draft.trimmed.push(`${name}: its description was cut`)
    if (note.body !== body) draft.trimmed.push(`${name}: its body was cut`)
  }
  return draft
}

function sectionsOf(text: string): { title: string; about: string; lines: string[] }[] {
  const sections: { title: string; about: string; lines: string[] }[] = []
  for (const line of cleanText(text).split(/\r?\n/)) {
    const found = HEAD.exec(line)
    if (found) sections.push({ title: found[1]!, about: found[2]!, lines: [] })
    else sections.at(-1)?.lines.push(line)
  }
  return sections
}

const slug = (title: string): string =>
  head(
    title
      .trim()
      .toLowerCase()
      .replaceAll(/[^a-z0-9_-]+/g, "-")
      .replaceAll(/^-+|-+$/g, ""),
    NOTE_LIMITS.name,
  )

/**
 * The notebook that follows from a draft: what keeps its name is the same note, what does not is new, and a pinned
 * note that the model left out comes back as it was.
 */
export function notebookOf(
  { notes: drafts }: Draft,
  before: readonly StoredNote[],
  { now, newId }: { now: number; newId: () => string },
): StoredNote[] {
  const kept = drafts.map((draft): StoredNote => {
    const old = before.find(({ name }) => name === draft.name)
    if (!old) {
      const times = { created_at: now, updated_at: now }
      return { ...draft, id: newId(), prev_body: null, pinned: false, ...times }
    }
    const isSame = old.body === draft.body && old.description === draft.description
    return { ...old, ...draft, prev_body: old.body, updated_at: isSame ? old.updated_at : now }
  })
  const names = new Set(drafts.map(({ name }) => name))
  const lost = before.filter(({ name, pinned }) => pinned && !names.has(name))
  return [...lost, ...kept]
}

/** Of all that a notebook says. */
export const textLength = (notes: readonly DraftNote[]): number =>
  notes.reduce(
    (sum, note) => sum + note.name.length + note.description.length + note.body.length,
    0,
  )
