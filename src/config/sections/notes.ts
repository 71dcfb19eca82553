/** Section `notes`: the notebook that the agent keeps in each chat. */
import { Type } from "@sinclair/typebox"
import { flag, text, whole } from "../field.ts"

export const NotesSection = Type.Object(
  {
    enabled: flag(
      "The agent keeps a notebook. false takes its tools and its part of the prompt away and leaves stored notes alone.",
      { default: true },
    ),
    model: Type.Optional(
      text("Model that rebuilds a notebook which has grown too large.", {
        unset: "the one that answers in the chat",
      }),
    ),
    max_note_chars: whole("Most characters of one note; a longer one is refused.", {
      ...{ default: 2000, minimum: 100 },
    }),
    pinned_chars: whole(
      "Most characters of all pinned notes together, and never less than max_note_chars.",
      { default: 2500 },
    ),
    pinned_max: whole("Most pinned notes.", { default: 3 }),
    inline_max_chars: whole(
      "Characters of all notes up to which a prompt shows them whole; beyond, it lists them by name.",
      { default: 2500 },
    ),
    inline_max_notes: whole("Notes up to which a prompt shows them whole.", { default: 12 }),
    compact_at_chars: whole("Characters of all notes beyond which the notebook is rebuilt.", {
      ...{ default: 12_000, minimum: 1000 },
    }),
    compact_at_notes: whole("Notes beyond which the notebook is rebuilt.", {
      ...{ default: 40, minimum: 2 },
    }),
    compact_target_chars: whole("Characters that a rebuilt notebook is to fit into.", {
      ...{ default: 6000, minimum: 500 },
    }),
    max_notes: whole("Notes that a rebuilt notebook is to have at the most.", {
      ...{ default: 20, minimum: 1 },
    }),
  },
  { description: "The notebook that the agent keeps in each chat." },
)
