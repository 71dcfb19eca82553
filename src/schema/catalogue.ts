/** What a client's menus are made of: the models, and the state of the kernel itself. */
import { type Static, Type } from "@sinclair/typebox"
import { EFFORT_LEVELS, Effort } from "./effort.ts"

const byModel = <T extends Parameters<typeof Type.Record>[1]>(value: T, description: string) =>
  Type.Record(Type.String(), value, { description })

export const ModelCatalogue = Type.Object({
  models: Type.Array(Type.String(), { description: "Names, in the order of the settings" }),
  default: Type.String({ description: "Who answers when nobody chose" }),
  efforts: byModel(Effort, "The effort of a model whose entry sets one"),
  effort_levels: Type.Array(Effort, { description: `All levels: ${EFFORT_LEVELS.join(", ")}` }),
  effort_default: Effort,
  context_windows: byModel(Type.Integer(), "Tokens, where they are known"),
  descriptions: byModel(Type.String(), "What a model is good for"),
  multimodal: Type.Array(Type.String(), { description: "Models that see pictures" }),
  image: Type.Array(Type.String(), { description: "Models that draw" }),
})
export type ModelCatalogue = Static<typeof ModelCatalogue>

export const Health = Type.Object({
  status: Type.Literal("ok"),
  version: Type.String(),
  commit: Type.String({ description: "Revision of the source, short" }),
})
export type Health = Static<typeof Health>

export const ConfigSnapshot = Type.Record(Type.String(), Type.Unknown(), {
  description: "The sections in force; secrets are blanked",
})
