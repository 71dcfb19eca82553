/** A skill: an instruction that the agent keeps for one kind of task. */
import { type Static, Type } from "@sinclair/typebox"

export const SKILL_LIMITS = { name: 64, description: 200, body: 20_000 } as const

export const SKILL_VISIBILITIES = ["private", "surface"] as const
export type SkillVisibility = (typeof SKILL_VISIBILITIES)[number]
export const SkillVisibility = Type.Unsafe<SkillVisibility>(
  Type.Union(
    SKILL_VISIBILITIES.map((visibility) => Type.Literal(visibility)),
    { description: "private (default): for the master where nobody reads along; surface: for all" },
  ),
)

export const Skill = Type.Object({
  name: Type.String(),
  description: Type.String({ description: "When to use it, in one line" }),
  model: Type.Union([Type.String(), Type.Null()], {
    description: "Carries the skill out by itself; null: the model of the turn follows it",
  }),
  visibility: SkillVisibility,
  created_at: Type.String({ format: "date-time" }),
  updated_at: Type.String({ format: "date-time" }),
})
export type Skill = Static<typeof Skill>

export const SkillList = Type.Object({ skills: Type.Array(Skill) })
