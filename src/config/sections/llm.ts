/** Section `llm`: upstreams, models, roles, and the limits of talking to them. */
import { Type } from "@sinclair/typebox"
import { choice, duration, flag, list, text, whole } from "../field.ts"
import { CACHE_TTLS, mainConnection, Upstream } from "./llm-connection.ts"
import { ModelEntry, ModelRoles } from "./llm-models.ts"

const Retry = Type.Object(
  {
    attempts: whole("How often one request is tried in all.", { minimum: 1, default: 4 }),
    budget: duration("Time after which no further attempt starts.", { default: "2m" }),
    first_delay: duration("Wait before the second attempt; it doubles from there, with jitter.", {
      default: "500ms",
    }),
    max_delay: duration("Longest wait between two attempts.", { default: "30s" }),
  },
  { description: "Repeating a request that failed before it said anything." },
)

const namedModel = (description: string, unset: string) =>
  Type.Optional(text(description, { example: "claude-sonnet-5-5", unset }))

export const LlmSection = Type.Object(
  {
    ...mainConnection,
    prompt_cache_telegram: Type.Optional(
      choice(
        "Overrides prompt_cache in turns that came through a surface.",
        [...CACHE_TTLS, "off"],
        {
          example: "off",
          unset: "llm.prompt_cache",
        },
      ),
    ),
    magic_keywords: flag("The word ultrathink in the master's message raises the effort.", {
      default: true,
    }),
    structured_output: flag(
      "Requests for structured answers carry a response_format with the JSON Schema to openai upstreams.",
      {
        default: false,
      },
    ),
    max_turn_iterations: whole("Trips to the provider that one turn may make.", {
      minimum: 1,
      default: 16,
    }),
    max_tokens: whole("Longest answer in the master's turns, tokens.", {
      minimum: 1,
      default: 8192,
    }),
    max_tokens_guest: whole("Longest answer in a guest's turn, tokens.", {
      minimum: 1,
      default: 1024,
    }),
    first_token_timeout: duration("How long the upstream may take to say anything at all.", {
      default: "5m",
    }),
    silence_timeout: duration("How long a stream that has begun may stay silent.", {
      default: "90s",
    }),
    retry: Retry,
    model: ModelRoles,
    code_model: namedModel("The model of the tool code_task.", "there is no code_task"),
    image_model: Type.Optional(
      text("The model that draws; its entry must have image_output.", {
        example: "drawing-model",
        unset: "the first entry of llm.models with image_output, else nothing draws",
      }),
    ),
    summary_model: namedModel(
      "The model of chat titles and of folding history.",
      "llm.model.general",
    ),
    models: list(
      "Every model that may be used: the menu of clients and the choice of the agent. A model named elsewhere must be here.",
      ModelEntry,
      { default: [], shown: true },
    ),
    providers: Type.Record(Type.String(), Upstream, {
      description: "Further upstreams by name.",
      default: {},
      example: "router",
    }),
  },
  { description: "The models and the upstreams that serve them.", shown: true },
)
