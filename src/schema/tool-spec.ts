/** A tool as a model and a client see it. */
import { type Static, Type } from "@sinclair/typebox"

export const ToolSpec = Type.Object({
  name: Type.String(),
  description: Type.String(),
  input_schema: Type.Record(Type.String(), Type.Unknown()),
})
export type ToolSpec = Static<typeof ToolSpec>

/** Gates that narrow who reaches a tool; on the wire only raised ones are present. */
export const TOOL_GATES = [
  "master_only",
  "trusted_only",
  "privileged_only",
  "client_only",
  "agent_only",
  "lead_only",
  "needs_agents",
  "anchored_only",
  "indexed_notes_only",
  "planning_only",
  "not_public",
  "unlisted",
] as const
export type ToolGate = (typeof TOOL_GATES)[number]

export const ToolInfo = Type.Object({
  ...ToolSpec.properties,
  group: Type.String(),
  icon: Type.Optional(Type.String()),
  brief: Type.Optional(Type.String({ description: "A one-line template such as {from} → {to}" })),
  quiet: Type.Optional(Type.Boolean({ description: "Not an event in messenger feeds" })),
  on_demand: Type.Optional(Type.Boolean()),
  ...Object.fromEntries(TOOL_GATES.map((gate) => [gate, Type.Optional(Type.Boolean())])),
})
export type ToolInfo = Static<typeof ToolInfo>

export const ToolList = Type.Object({
  tools: Type.Array(ToolInfo),
  collisions: Type.Array(Type.String(), {
    description: "Names that were registered twice; the first one stayed",
  }),
})
