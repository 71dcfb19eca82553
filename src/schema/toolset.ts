/** A tool set: the tools for one kind of work, and the mode of working that comes with it. */
import { type Static, Type } from "@sinclair/typebox"
import { WorkdirOn } from "./chat.ts"

export const TOOLSET_LIMITS = { name: 64, description: 200, tools: 200, hint: 4000 } as const

const textOrNull = (description: string) =>
  Type.Union([Type.String(), Type.Null()], { description })

export const Toolset = Type.Object({
  name: Type.String(),
  description: Type.String({ description: "The kind of work, by which a model chooses it" }),
  tools: Type.Array(Type.String(), {
    description: "Names and groups of tools; an empty list stands for the whole registry",
  }),
  tools_error: Type.Optional(
    Type.String({ description: "The stored list cannot be read: the set opens nothing" }),
  ),
  hint: textOrNull("Stands in the prompt while the set is on"),
  workdir: textOrNull("Becomes the working directory of a chat that the set is pinned to"),
  workdir_on: WorkdirOn,
  uncapped: Type.Boolean({ description: "No limit of requests in a turn" }),
  narrate: Type.Boolean({ description: "The agent says what it does, step by step" }),
  no_brevity: Type.Boolean({ description: "Answers may be long, also in a small place" }),
})
export type Toolset = Static<typeof Toolset>

export const ToolsetList = Type.Object({ toolsets: Type.Array(Toolset) })
