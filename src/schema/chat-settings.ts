/** Bodies of the routes that set one property of a chat. A field is given or null, never left out by accident. */
import { type Static, Type } from "@sinclair/typebox"
import { Effort } from "./effort.ts"

const NAME_MAX = 100
const PATH_MAX = 4096
const REASON_MAX = 1000

const closed = { additionalProperties: false } as const

const textOrNull = (maxLength: number, description: string) =>
  Type.Union([Type.String({ maxLength }), Type.Null()], { description })

export const SetFolder = Type.Object(
  { folder: textOrNull(NAME_MAX, "The shelf; null or empty: the inbox") },
  closed,
)
export type SetFolder = Static<typeof SetFolder>

export const SetModel = Type.Object(
  { model: textOrNull(NAME_MAX * 2, "A name of GET /v1/models; null: the general model") },
  closed,
)
export type SetModel = Static<typeof SetModel>

export const SetEffort = Type.Object({ effort: Type.Union([Effort, Type.Null()]) }, closed)
export type SetEffort = Static<typeof SetEffort>

export const SetToolset = Type.Object(
  { toolset: textOrNull(NAME_MAX, "Name of a tool set; null: none") },
  closed,
)
export type SetToolset = Static<typeof SetToolset>

export const SetWorkdir = Type.Object(
  {
    workdir: textOrNull(PATH_MAX, "An absolute path; null or empty: none"),
    workdir_on: Type.Optional(
      Type.String({ description: "client (default) or server; anything else is refused with 400" }),
    ),
  },
  closed,
)
export type SetWorkdir = Static<typeof SetWorkdir>

export const SetAttention = Type.Object(
  {
    needs: Type.Boolean({ description: "Whether the chat calls for its owner" }),
    reason: Type.Optional(textOrNull(REASON_MAX, "Why it calls")),
  },
  closed,
)
export type SetAttention = Static<typeof SetAttention>

export const FolderQuery = Type.Object({
  surface: Type.Optional(Type.String({ description: "A surface name, or any" })),
})
export type FolderQuery = Static<typeof FolderQuery>
