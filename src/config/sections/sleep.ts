/** Section `sleep`: the night in which memory is tidied. */
import { Type } from "@sinclair/typebox"
import { decimal, duration, flag, text, textOf, whole } from "../field.ts"

const stageModel = Type.Optional(
  text("Model that plans this stage.", { unset: "llm.model.smartest, else llm.model.general" }),
)

const SleepMemory = Type.Object(
  {
    enabled: flag("Memory is tidied at night.", { default: true }),
    model: stageModel,
    min_memories: whole("With fewer memories this stage is skipped and costs nothing.", {
      default: 50,
    }),
    max_ops: whole("Most changes of one night.", { default: 60 }),
    max_forget: whole("Most memories that one night lets go.", { default: 20 }),
    keep_recent: duration("What is younger is neither forgotten nor rewritten.", {
      default: "3days",
    }),
    archive_ttl: duration("What was forgotten can come back for so long, then it is erased.", {
      default: "180days",
    }),
    cluster_jaccard: decimal("Two memories that share so much of their words belong together.", {
      ...{ default: 0.35, maximum: 1 },
    }),
    cluster_cosine: decimal("Two memories so close in meaning belong together.", {
      ...{ default: 0.82, maximum: 1 },
    }),
    max_cluster: whole("Most memories that are looked at together.", { default: 12, minimum: 2 }),
  },
  { description: "Tidying memory." },
)

const SleepTools = Type.Object(
  {
    enabled: flag("Tool sets are curated at night.", { default: true }),
    model: stageModel,
    max_ops: whole("Most changes of one night.", { default: 10 }),
  },
  { description: "Curating tool sets: the settings are read, the stage is still to come." },
)

export const SleepSection = Type.Object(
  {
    enabled: flag("The agent sleeps once a day.", { default: true }),
    at: textOf("time", "When, as HH:MM in the zone of the master.", { default: "00:00" }),
    idle_for: Type.Optional(
      duration("Sleep waits until no turn has run for so long.", {
        ...{ example: "15m", unset: "it waits for running turns alone" },
      }),
    ),
    dry_run: flag("Plans are written to the journal and not applied.", { default: false }),
    memory: SleepMemory,
    tools: SleepTools,
  },
  { description: "The night in which memory is tidied." },
)
