/** A live turn as clients list and cancel it. */
import { type Static, Type } from "@sinclair/typebox"

export const Generation = Type.Object({
  id: Type.String({ description: "The turn's id" }),
  chat_id: Type.String(),
  source: Type.String({ description: "What started it: message, cron, notify …" }),
  state: Type.Union([Type.Literal("queued"), Type.Literal("running"), Type.Literal("cancelling")]),
  model: Type.Union([Type.String(), Type.Null()]),
  step: Type.Integer({ description: "Provider trips begun" }),
  started_at: Type.String({ format: "date-time" }),
})
export type Generation = Static<typeof Generation>

export const GenerationList = Type.Object({ generations: Type.Array(Generation) })
