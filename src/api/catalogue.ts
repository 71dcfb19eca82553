/** Routes of the kernel itself: health, models, tools, settings. */
import { Elysia } from "elysia"
import { maskConfig } from "../config/mask.ts"
import type { Config } from "../config/schema.ts"
import type { Models } from "../llm/models.ts"
import { ConfigSnapshot, Health, ModelCatalogue } from "../schema/catalogue.ts"
import { EFFORT_LEVELS } from "../schema/effort.ts"
import { ToolList } from "../schema/tool-spec.ts"
import { describe, json } from "./describe.ts"
import type { ApiParts } from "./parts.ts"

type CatalogueParts = Pick<ApiParts, "build" | "config" | "models" | "registry">

export function catalogueRoutes({ build, config, models, registry }: CatalogueParts) {
  return new Elysia()
    .get("/health", () => ({ status: "ok", version: build.version, commit: build.commit }), {
      detail: describe({
        tag: "kernel",
        summary: "Whether the kernel is there, and which one",
        description: "Needs no token.",
        answers: { 200: json(Health, "It is") },
      }),
    })
    .get("/v1/models", () => catalogueOf(models, config.llm.reasoning), {
      detail: describe({
        tag: "kernel",
        summary: "List models",
        answers: { 200: json(ModelCatalogue, "What a menu of models needs") },
      }),
    })
    .get("/v1/tools", () => toolList(registry, config.tools.on_demand), {
      detail: describe({
        tag: "kernel",
        summary: "List tools",
        description: "Description and schema are the very ones that a model gets.",
        answers: { 200: json(ToolList, "All tools; a gate is present only when it is raised") },
      }),
    })
    .get("/v1/config", () => maskConfig(config), {
      detail: describe({
        tag: "kernel",
        summary: "Read the settings in force",
        answers: { 200: json(ConfigSnapshot, "Read-only; secrets are blanked") },
      }),
    })
}

const toolList = (registry: CatalogueParts["registry"], onDemand: readonly string[]) => ({
  tools: registry.info(onDemand),
  collisions: registry.collisions(),
})

function catalogueOf(
  { entries, roles }: Models,
  effortDefault: Config["llm"]["reasoning"],
): ModelCatalogue {
  const known = entries.length > 0 ? entries : [roleOnly(roles.general)]
  const map = <T>(value: (entry: Entry) => T | undefined): Record<string, T> =>
    Object.fromEntries(
      known.flatMap((entry) => {
        const found = value(entry)
        return found === undefined ? [] : [[entry.name, found]]
      }),
    )
  const those = (has: (entry: Entry) => boolean) => known.filter(has).map((entry) => entry.name)
  return {
    models: known.map((entry) => entry.name),
    default: roles.general,
    efforts: map((entry) => entry.effort),
    effort_levels: [...EFFORT_LEVELS],
    effort_default: effortDefault,
    context_windows: map((entry) => entry.contextWindow),
    descriptions: map((entry) => entry.description),
    multimodal: those((entry) => entry.multimodal),
    image: those((entry) => entry.imageOutput),
  }
}

type Entry = Models["entries"][number]

/** Without a list of models the one that answers is still worth showing. */
const roleOnly = (name: string): Entry => ({ name, multimodal: false, imageOutput: false })
