/** How hard a model thinks before it answers. */
import { Type } from "@sinclair/typebox"

export const EFFORT_LEVELS = ["off", "low", "mid", "high"] as const
export type Effort = (typeof EFFORT_LEVELS)[number]

export const Effort = Type.Unsafe<Effort>(
  Type.Union(
    EFFORT_LEVELS.map((level) => Type.Literal(level)),
    { description: "How hard the model thinks: off, low, mid or high" },
  ),
)
