/** What fills the prompt of a chat's next request. */
import { type Static, Type } from "@sinclair/typebox"

export const Weight = Type.Object({
  name: Type.String(),
  bytes: Type.Integer({ description: "As JSON or text in UTF-8" }),
  tokens: Type.Integer({ description: "By estimate, corrected by what the provider counts" }),
})
export type Weight = Static<typeof Weight>

export const LastTrip = Type.Object({
  model: Type.String(),
  prompt_tokens: Type.Integer(),
  cached_tokens: Type.Integer(),
  cache_write_tokens: Type.Integer(),
  cached_share: Type.Number({ description: "Of the prompt's tokens, 0 to 1" }),
})
export type LastTrip = Static<typeof LastTrip>

export const ContextReport = Type.Object({
  model: Type.String({ description: "The model that the next message would go to" }),
  context_window: Type.Union([Type.Integer(), Type.Null()], {
    description: "Tokens that the model takes, when its entry says so",
  }),
  total: Type.Object({ bytes: Type.Integer(), tokens: Type.Integer() }),
  system: Type.Array(Weight, { description: "The pieces of the system part, in their order" }),
  tools: Type.Array(Weight, { description: "Each tool with its schema, the heaviest first" }),
  history: Type.Array(Weight, {
    description:
      "What was said as it is shown: people, answers, calls, results, and marks put in by the kernel",
  }),
  state: Type.Array(Weight, { description: "What is told anew with each request" }),
  left_out_bytes: Type.Integer({
    description: "What old and long tool traffic would take beyond what is shown of it",
  }),
  stable_share: Type.Number({
    description: "Of the bytes, 0 to 1: what a provider may take from its cache, if it has it",
  }),
  last_trip: Type.Union([LastTrip, Type.Null()], {
    description: "What the provider counted for the newest request of a turn",
  }),
})
export type ContextReport = Static<typeof ContextReport>
