/** The one shape of every error reply. */
import { type Static, Type } from "@sinclair/typebox"

export const Problem = Type.Object({
  error: Type.String({ description: "What is wrong and what would be right" }),
  code: Type.String({ description: "A stable word for programs" }),
  path: Type.Optional(Type.String({ description: "The field of the body that is wrong" })),
})
export type Problem = Static<typeof Problem>
