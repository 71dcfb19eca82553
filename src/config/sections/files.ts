/** Section `files`: what is kept so that a turn's writes to files can be undone. */
import { Type } from "@sinclair/typebox"
import { duration, size } from "../field.ts"

export const FilesSection = Type.Object(
  {
    checkpoint_keep: duration(
      "How long the former content of a file that a turn wrote is kept for an undo.",
      { default: "7days" },
    ),
    checkpoint_file_max: size("Largest file that is kept for an undo; 0 keeps none.", {
      default: "4 MiB",
    }),
    checkpoint_chat_max: size("Most that is kept for one chat, compressed; the oldest turn goes.", {
      default: "32 MiB",
    }),
    checkpoint_total_max: size("Most that is kept for all chats, compressed; the oldest goes.", {
      default: "256 MiB",
    }),
  },
  { description: "Files that tools write." },
)
