/** The models that the kernel knows (`llm.models`) and the roles they play (`llm.model`). */
import { type Static, Type } from "@sinclair/typebox"
import { decimal, effort, flag, list, text, whole } from "../field.ts"

const price = (description: string, example: number) =>
  Type.Optional(decimal(description, { example, unset: "the provider's own reported cost counts" }))

export const ModelEntry = Type.Object(
  {
    name: text("The name that the upstream knows the model by.", { example: "claude-sonnet-5-5" }),
    description: Type.Optional(
      text("What the model is good for, told to clients and to the agent.", {
        example: "Everyday work, writing and code",
      }),
    ),
    multimodal: flag("The model accepts pictures in messages.", { default: false }),
    image_output: flag("The model can draw inside its own answer.", { default: false }),
    jailbreak: Type.Optional(
      text("Text for the cacheable system prompt of this model alone.", {
        example: "Answer in plain words.",
      }),
    ),
    effort: Type.Optional(
      effort("The model's own reasoning level.", { example: "mid", unset: "llm.reasoning" }),
    ),
    provider: Type.Optional(
      text("The upstream of llm.providers that serves this model.", {
        example: "router",
        unset: "the main provider",
      }),
    ),
    price_in: price("USD for a million input tokens.", 2),
    price_out: price("USD for a million output tokens.", 10),
    price_cache_read: price("USD for a million input tokens read from the cache.", 0.2),
    price_cache_write: price("USD for a million input tokens written to the cache.", 2.5),
    context_window: Type.Optional(
      whole("Hard ceiling of prompt and answer, tokens.", { minimum: 1, example: 1_000_000 }),
    ),
    max_output: Type.Optional(
      whole("Most tokens the model can answer with.", { minimum: 1, example: 128_000 }),
    ),
  },
  { description: "A model that may be named anywhere in the configuration." },
)
export type ModelEntry = Static<typeof ModelEntry>

export const ModelRoles = Type.Object(
  {
    general: text("The model of ordinary turns.", { example: "claude-sonnet-5-5" }),
    fastest: Type.Optional(
      text("An instant model for decorative lines and for picking among found tools.", {
        example: "claude-sonnet-5-5",
        unset: "llm.model.general",
      }),
    ),
    smartest: Type.Optional(
      text("The model of work that may take its time.", {
        example: "claude-sonnet-5-5",
        unset: "llm.model.general",
      }),
    ),
    advisor: Type.Optional(
      text("The model that looks over the shoulder of a working turn.", {
        example: "claude-sonnet-5-5",
        unset: "there is no advisor",
      }),
    ),
    fallback: list(
      "Substitutes, in order, for a model that is withdrawn, out of quota or locked out.",
      text("A model."),
      { default: [], example: ["claude-sonnet-5-5"] },
    ),
  },
  {
    description: "Which model plays which role.",
    hint: "write the mapping model: { general: NAME }",
    shown: true,
  },
)
