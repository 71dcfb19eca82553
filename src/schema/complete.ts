/** A one-shot answer of a model: no turn, no history, no tools. */
import { type Static, Type } from "@sinclair/typebox"
import { Effort } from "./effort.ts"
import { Usage } from "./usage.ts"

const TEXT_MAX = 1_000_000

export const Complete = Type.Object(
  {
    prompt: Type.String({ minLength: 1, maxLength: TEXT_MAX }),
    system: Type.Optional(Type.String({ maxLength: TEXT_MAX, description: "The system head" })),
    model: Type.Optional(
      Type.String({ minLength: 1, description: "Absent: the general model of the settings" }),
    ),
    effort: Type.Optional(Effort),
    max_tokens: Type.Optional(Type.Integer({ minimum: 1 })),
    schema: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: "JSON Schema of the answer; advice to the model unless strict",
      }),
    ),
    strict: Type.Optional(
      Type.Boolean({ description: "Ask the provider to hold the answer to the schema" }),
    ),
    cache: Type.Optional(
      Type.Boolean({
        default: false,
        description: "Mark the system head for the provider's cache, for llm.prompt_cache long",
      }),
    ),
  },
  { additionalProperties: false },
)
export type Complete = Static<typeof Complete>

export const Completion = Type.Object({
  text: Type.String(),
  model: Type.String({ description: "Who answered: a substitute may have stepped in" }),
  usage: Usage,
})
export type Completion = Static<typeof Completion>
