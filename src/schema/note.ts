/** A note of the notebook that the agent keeps in one chat. */
import { type Static, Type } from "@sinclair/typebox"

/** `notes` bounds a notebook whose rebuilds fail. */
export const NOTE_LIMITS = { name: 48, description: 120, notes: 200 } as const
export const NOTE_NAME = /^[a-z0-9_-]{1,48}$/

export const NOTES_MODES = ["inline", "index"] as const
export type NotesMode = (typeof NOTES_MODES)[number]
export const NotesMode = Type.Unsafe<NotesMode>(
  Type.Union(
    NOTES_MODES.map((mode) => Type.Literal(mode)),
    { description: "inline: prompts show the notes whole; index: by name and description" },
  ),
)

const Instant = Type.String({ format: "date-time" })
const MaybeInstant = (description: string) => Type.Union([Instant, Type.Null()], { description })

export const Note = Type.Object({
  id: Type.String({ description: "Stays with the note through rebuilds and their undoing" }),
  name: Type.String(),
  description: Type.String(),
  body: Type.String(),
  prev_body: Type.Union([Type.String(), Type.Null()], {
    description: "The body before the last change; null: it has had no other",
  }),
  pinned: Type.Boolean({ description: "Stands whole in every prompt of the master's" }),
  changed: Type.Boolean({ description: "Written since the notebook was last looked at" }),
  created_at: Instant,
  updated_at: Instant,
})
export type Note = Static<typeof Note>

export const Notebook = Type.Object({
  notes: Type.Array(Note, { description: "Oldest first" }),
  mode: NotesMode,
  seen_at: MaybeInstant("When somebody last looked at it; null: never"),
  archived_at: MaybeInstant("When it was last rebuilt or restored; null: nothing to go back to"),
})
export type Notebook = Static<typeof Notebook>

/** A new note needs description and body; of one that is there, what is left out stays. */
export const PutNote = Type.Object(
  {
    description: Type.Optional(Type.String()),
    body: Type.Optional(Type.String()),
    pinned: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false, minProperties: 1 },
)
export type PutNote = Static<typeof PutNote>

export const LookAtNotes = Type.Object(
  {
    at: Type.Optional(
      Type.String({ format: "date-time", description: "When it was read; absent: now" }),
    ),
  },
  { additionalProperties: false },
)

export const NoteDeleted = Type.Object({ deleted: Type.Boolean() })

export const NotebookRebuilt = Type.Object({
  rebuilt: Type.Boolean(),
  notes: Type.Integer({ description: "How many there are now" }),
  chars: Type.Integer({ description: "Of all bodies now" }),
  reason: Type.Optional(Type.String({ description: "Why it stayed as it was" })),
})
export type NotebookRebuilt = Static<typeof NotebookRebuilt>
