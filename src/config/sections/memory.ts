/** Section `memory`: what is recalled of what the agent keeps between chats. */
import { Type } from "@sinclair/typebox"
import { decimal, duration, text, whole } from "../field.ts"

export const MemorySection = Type.Object(
  {
    top_k: whole("Most records recalled for a turn of the master's.", { default: 8 }),
    public_top_k: whole("The same for any other turn.", { default: 3 }),
    prompt_budget: whole("Most characters of the prompt's section; core takes 60 % at most.", {
      default: 8000,
    }),
    recall_floor: decimal(
      "A record weaker than this share of the best one is not recalled; 0 recalls all.",
      { default: 0.15, maximum: 1 },
    ),
    half_life: duration("A fact loses half of its weight in this time; an event in a quarter.", {
      default: "30days",
    }),
    embedding_model: Type.Optional(
      text("Model of the main provider that compares by meaning.", {
        example: "text-embedding-3-small",
        unset: "by words alone",
      }),
    ),
  },
  { description: "What is recalled of what the agent keeps between chats." },
)
