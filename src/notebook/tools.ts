/** Tools of the notebook. They are steps that messenger feeds leave out, and their results leave a prompt first. */
import { type Static, Type } from "@sinclair/typebox"
import { NOTE_LIMITS } from "../schema/note.ts"
import { type Tool, type ToolContext, ToolFailure } from "../tools/tool.ts"
import { type NotesSettings, sizeOf, wholeNotes } from "./display.ts"
import { type Notebook, type StoredNote, unknownNote } from "./notebook.ts"
import type { Rebuilds } from "./rebuild.ts"
import type { NotesView } from "./view.ts"

export interface NotebookToolParts {
  notebook: Pick<Notebook, "ofChat" | "save" | "remove" | "settings">
  rebuilds: Pick<Rebuilds, "now">
  /** What the turn knows of the notebook; undefined once it is over. */
  viewOf(turnId: string): NotesView | undefined
}

const closed = { additionalProperties: false }
const Name = Type.String({ description: "a-z 0-9 _ -" })
const NoInput = Type.Object({}, closed)
const ForgetInput = Type.Object({ name: Type.String() }, closed)
const ReadInput = Type.Object(
  { names: Type.Array(Type.String(), { minItems: 1, maxItems: NOTE_LIMITS.notes }) },
  closed,
)
const saveInput = ({ max_note_chars }: NotesSettings) =>
  Type.Object(
    {
      name: Name,
      description: Type.Optional(
        Type.String({ description: `One line, up to ${NOTE_LIMITS.description} characters` }),
      ),
      body: Type.Optional(Type.String({ description: `Up to ${max_note_chars} characters` })),
      pinned: Type.Optional(Type.Boolean({ description: "Always shown whole" })),
    },
    closed,
  )
type SaveInput = Static<ReturnType<typeof saveInput>>

const common = {
  ...{ group: "chat", icon: "📝" },
  gates: ["master_only" as const, "lead_only" as const],
}

export const notebookTools = (parts: NotebookToolParts): Tool[] => [
  saveTool(parts),
  forgetTool(parts),
  readTool(parts),
  compactTool(parts),
]

const saveTool = ({ notebook, viewOf }: NotebookToolParts): Tool => ({
  ...common,
  ...{ name: "chat_note_save", brief: "{name}" },
  description:
    "Writes a note of this chat, or the one of this name anew and whole; of that one, what is left out stays.",
  input: saveInput(notebook.settings),
  traits: { quiet: true },
  run: async ({ chatId, turnId }, input) => {
    const { name, ...draft } = input as SaveInput
    const view = viewOf(turnId)
    const notes = notebook.ofChat(chatId)
    const before = notes.find((note) => note.name === name)
    if (before && draft.body !== undefined && !isInSight(before, { notes, view, notebook })) {
      throw new ToolFailure(
        `${name} is there already and this turn has not read what it says: chat_note_read first, then write it anew`,
      )
    }
    const { note, isNew } = notebook.save(chatId, name, draft)
    if (draft.body !== undefined) view?.known.set(name, note.body)
    const pin = note.pinned ? ", pinned" : ""
    return answer(`${isNew ? "saved" : "changed"}: ${name}${pin} (${note.body.length} characters)`)
  },
})

/** Only what the model has before its eyes may be written over. */
function isInSight(
  note: StoredNote,
  at: {
    notes: readonly StoredNote[]
    view: NotesView | undefined
    notebook: Pick<Notebook, "settings">
  },
): boolean {
  const { notes, view, notebook } = at
  if (view?.known.get(note.name) === note.body) return true
  return view !== undefined && wholeNotes(notes, view.mode, notebook.settings).has(note)
}

const forgetTool = ({ notebook }: NotebookToolParts): Tool => ({
  ...common,
  ...{ name: "chat_note_forget", brief: "{name}" },
  description: "Deletes a note of this chat.",
  input: ForgetInput,
  traits: { quiet: true },
  run: async ({ chatId }, input) => {
    const { name } = input as Static<typeof ForgetInput>
    if (notebook.remove(chatId, name)) return answer(`deleted: ${name}`)
    throw unknownNote(name, namesIn(notebook.ofChat(chatId)))
  },
})

const readTool = ({ notebook, viewOf }: NotebookToolParts): Tool => ({
  ...common,
  ...{ name: "chat_note_read", brief: "{names}" },
  description: "What notes of this chat say, several at once.",
  input: ReadInput,
  gates: [...common.gates, "indexed_notes_only"],
  traits: { quiet: true, windowed: true, concurrent: true },
  run: async ({ chatId, turnId }, input) => {
    const { names } = input as Static<typeof ReadInput>
    const notes = notebook.ofChat(chatId)
    const found = notes.filter(({ name }) => names.includes(name))
    const missing = names.filter((name) => !found.some((note) => note.name === name))
    const misses = missing.map((name) => unknownNote(name, namesIn(notes)).message)
    if (found.length === 0) throw new ToolFailure(misses.join("\n"))
    const view = viewOf(turnId)
    for (const { name, body } of found) view?.known.set(name, body)
    const bodies = found.map(
      ({ name, description, body }) => `## ${name} | ${description}\n${body}`,
    )
    return answer([...bodies, ...misses].join("\n\n"))
  },
})

const compactTool = ({ notebook, rebuilds }: NotebookToolParts): Tool => ({
  ...common,
  name: "chat_note_compact",
  description:
    "Rebuilds the notebook of this chat now: merges what belongs together and drops what is finished.",
  input: NoInput,
  traits: { quiet: true },
  run: async ({ chatId, turnId, signal }: ToolContext) => {
    const before = sizeOf(notebook.ofChat(chatId))
    const result = await rebuilds.now({ chatId, turnId, signal })
    if (!result.rebuilt) throw new ToolFailure(`the notebook is as it was: ${result.reason}`)
    const { notes, chars } = result.size
    return answer(
      `rebuilt: ${before.notes} notes with ${before.chars} characters became ${notes} with ${chars}`,
    )
  },
})

const answer = (output: string) => ({ output, uneventful: true })

const namesIn = (notes: readonly StoredNote[]): string[] => notes.map(({ name }) => name)
