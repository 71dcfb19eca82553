/** Section `persona`: who the agent is. */
import { Type } from "@sinclair/typebox"
import { textOf } from "../field.ts"

export const PersonaSection = Type.Object(
  {
    file: Type.Optional(
      textOf("path", "A text file that says who the agent is.", {
        example: "persona.md",
        unset: "one neutral line",
      }),
    ),
  },
  { description: "Who the agent is." },
)
