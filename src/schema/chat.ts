/** A chat: where a conversation lives and how it is set up. */
import { type Static, type TSchema, Type } from "@sinclair/typebox"
import { Effort } from "./effort.ts"
import { CompactProfile } from "./summary.ts"

const Nullable = <T extends TSchema>(schema: T, description: string) =>
  Type.Union([schema, Type.Null()], { description })

export const WorkdirOn = Type.Union([Type.Literal("client"), Type.Literal("server")], {
  description: "The machine that holds the working directory",
})
export type WorkdirOn = Static<typeof WorkdirOn>

export const Chat = Type.Object({
  id: Type.String(),
  title: Type.String(),
  folder: Type.String({ description: "The human shelf; `default` is the inbox" }),
  surface: Nullable(Type.String(), "The surface the chat belongs to, such as telegram"),
  project: Nullable(Type.String(), "The project of a coding session"),
  model: Nullable(Type.String(), "The chat's own model; null uses the general one"),
  effort: Type.Union([Effort, Type.Null()]),
  toolset: Nullable(Type.String(), "The pinned tool set"),
  compact_profile: Nullable(CompactProfile, "How soon its history is folded; null: automatic"),
  workdir: Nullable(Type.String(), "The working directory"),
  workdir_on: WorkdirOn,
  ephemeral: Type.Boolean({ description: "Reaped after a time of silence" }),
  needs_attention: Type.Boolean(),
  attention_reason: Nullable(Type.String(), "Why the chat asks for attention"),
  forked_from: Nullable(Type.String(), "The chat this one branched from"),
  forked_at_message: Nullable(Type.String(), "The first message of the parent that was not copied"),
  running: Type.Boolean({ description: "A turn runs or waits in this chat" }),
  created_at: Type.String({ format: "date-time" }),
  updated_at: Type.String({ format: "date-time", description: "When the last message came" }),
  deleted_at: Nullable(Type.String(), "When it went to the bin"),
  next_sleep_at: Nullable(Type.String(), "When the chat's own sleep is due"),
})
export type Chat = Static<typeof Chat>

export const ChatList = Type.Object({ chats: Type.Array(Chat) })

const TITLE_MAX = 200
const NAME_MAX = 100
const PATH_MAX = 4096

export const NewChat = Type.Object(
  {
    title: Type.Optional(Type.String({ maxLength: TITLE_MAX })),
    folder: Type.Optional(Nullable(Type.String({ maxLength: NAME_MAX }), "null or empty: default")),
    surface: Type.Optional(
      Nullable(Type.String({ maxLength: NAME_MAX, minLength: 1 }), "Surface name"),
    ),
    project: Type.Optional(Nullable(Type.String({ maxLength: NAME_MAX }), "Project name")),
    model: Type.Optional(Nullable(Type.String(), "The chat's own model")),
    effort: Type.Optional(Type.Union([Effort, Type.Null()])),
    workdir: Type.Optional(Nullable(Type.String({ maxLength: PATH_MAX }), "Absolute path")),
    workdir_on: Type.Optional(
      Type.String({ description: "client (default) or server; anything else is refused with 400" }),
    ),
    ephemeral: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
)
export type NewChat = Static<typeof NewChat>

export const ChatPatch = Type.Object(
  {
    title: Type.Optional(Type.String({ maxLength: TITLE_MAX })),
    needs_attention: Type.Optional(Type.Boolean()),
    attention_reason: Type.Optional(Nullable(Type.String({ maxLength: 1000 }), "Why")),
    project: Type.Optional(Nullable(Type.String({ maxLength: NAME_MAX }), "Project name")),
  },
  { additionalProperties: false, minProperties: 1 },
)
export type ChatPatch = Static<typeof ChatPatch>

export const ForkChat = Type.Object(
  {
    before_message: Type.String({
      description: "Everything strictly before this message is copied",
    }),
    title: Type.Optional(Type.String({ maxLength: TITLE_MAX })),
  },
  { additionalProperties: false },
)
export type ForkChat = Static<typeof ForkChat>

export const FolderList = Type.Object({
  folders: Type.Array(
    Type.Object({ folder: Type.String(), chats: Type.Integer(), quiet: Type.Boolean() }),
  ),
})

export const ChatQuery = Type.Object({
  folder: Type.Optional(Type.String({ description: "Exact shelf, or a prefix with a trailing *" })),
  surface: Type.Optional(Type.String({ description: "A surface name, or any" })),
  project: Type.Optional(Type.String({ description: "Exact project" })),
  deleted: Type.Optional(Type.String({ description: "true lists the bin" })),
  title: Type.Optional(Type.String({ description: "Part of the title, case ignored" })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 50 })),
  before: Type.Optional(Type.String({ description: "The last id of the page before" })),
})
export type ChatQuery = Static<typeof ChatQuery>
