/** What turns wrote to files, and taking it back. */
import { type Static, Type } from "@sinclair/typebox"

const FilePlace = {
  machine: Type.String({ description: "`client`, `server`, or the ssh host" }),
  path: Type.String({ description: "Absolute" }),
}
export const FileAt = Type.Object(FilePlace)
export type FileAt = Static<typeof FileAt>

export const WrittenFile = Type.Object({
  ...FilePlace,
  change: Type.Union([Type.Literal("made"), Type.Literal("changed"), Type.Literal("removed")]),
  restorable: Type.Boolean({ description: "false: the former content was too large to keep" }),
})
export type WrittenFile = Static<typeof WrittenFile>

export const FileWriter = Type.Object({
  id: Type.String({ description: "The turn, or the undo" }),
  kind: Type.Union([Type.Literal("turn"), Type.Literal("restore")]),
  at: Type.String({ format: "date-time", description: "The first write" }),
  restored_at: Type.Union([Type.String(), Type.Null()], { description: "When it was undone" }),
  files: Type.Array(WrittenFile),
})
export type FileWriter = Static<typeof FileWriter>

export const FileWriters = Type.Object({
  writers: Type.Array(FileWriter, { description: "Newest first" }),
})
export type FileWriters = Static<typeof FileWriters>

export const RestoreFiles = Type.Object(
  {
    turn_id: Type.Optional(
      Type.String({
        description:
          "The turn to undo, or the `restore_id` of an undo to take that back. Absent: the last turn that wrote and was not undone",
      }),
    ),
    force: Type.Optional(
      Type.Boolean({
        description: "Also overwrite files that were changed since; what they hold is kept",
      }),
    ),
  },
  { additionalProperties: false },
)
export type RestoreFiles = Static<typeof RestoreFiles>

/** Why a file is as it was before the undo. */
export const CONFLICT_REASONS = ["changed_since", "not_kept", "failed"] as const

export const RestoreConflict = Type.Object({
  ...FilePlace,
  reason: Type.Union(CONFLICT_REASONS.map((reason) => Type.Literal(reason))),
  message: Type.String({ description: "A sentence for people" }),
})
export type RestoreConflict = Static<typeof RestoreConflict>

export const ClientRestore = Type.Object({
  path: Type.String(),
  former: Type.Union([Type.String(), Type.Null()], {
    description: "The former bytes in base64; null: there was no file",
  }),
  expect_sha256: Type.Union([Type.String(), Type.Null()], {
    description: "What the turn left there; a file that differs was changed since",
  }),
})
export type ClientRestore = Static<typeof ClientRestore>

export const FilesRestored = Type.Object({
  turn_id: Type.String({ description: "What was undone" }),
  restore_id: Type.Union([Type.String(), Type.Null()], {
    description: "Send it as `turn_id` to take the undo back; null when no file was touched",
  }),
  restored: Type.Array(FileAt, { description: "Have their former content again" }),
  removed: Type.Array(FileAt, { description: "The turn had made them" }),
  unchanged: Type.Array(FileAt, { description: "Were as before the turn already" }),
  conflicts: Type.Array(RestoreConflict, { description: "Left alone" }),
  client: Type.Array(ClientRestore, {
    description: "Files of the client's machine, which only the client can write",
  }),
})
export type FilesRestored = Static<typeof FilesRestored>
