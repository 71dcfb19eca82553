/** Tools of the family `turn`: a longer and a deeper turn. */
import { type Static, Type } from "@sinclair/typebox"
import { EFFORT_LEVELS } from "../schema/effort.ts"
import { type Tool, ToolFailure } from "../tools/tool.ts"
import type { Levers } from "./levers.ts"

type LeversOf = (turnId: string) => Levers | undefined

const GROUP = "turn"
const closed = { additionalProperties: false }
const LiftInput = Type.Object({}, closed)
const ThinkInput = Type.Object(
  {
    level: Type.Optional(
      Type.Union([Type.Literal("low"), Type.Literal("mid"), Type.Literal("high")], {
        description: "Default: one step up",
      }),
    ),
  },
  closed,
)

export const turnTools = (leversOf: LeversOf): Tool[] => [liftTool(leversOf), thinkTool(leversOf)]

const liftTool = (leversOf: LeversOf): Tool => ({
  ...{ name: "lift_turn_limit", group: GROUP, icon: "♾️" },
  description:
    "Takes the limit of requests off this turn, for work that needs many steps. Ask the master first, with ask_questions; this only carries out his yes.",
  input: LiftInput,
  gates: ["master_only"],
  traits: {},
  run: async ({ turnId }) => {
    const turn = moving(leversOf, turnId)
    if (turn.isUncapped()) return { output: "this turn has no limit already" }
    turn.lift()
    return { output: "this turn has no limit of requests any more" }
  },
})

const thinkTool = (leversOf: LeversOf): Tool => ({
  ...{ name: "think_harder", group: GROUP, icon: "🤔", brief: "{level}" },
  description:
    "Raises how hard you think for the rest of this turn, when a task proves deeper than it looked. Each further step costs more, and there is no way back before the turn ends.",
  input: ThinkInput,
  gates: ["master_only"],
  traits: {},
  run: async ({ turnId }, input) => {
    const turn = moving(leversOf, turnId)
    const present = turn.effort()
    const { level } = input as Static<typeof ThinkInput>
    const wish = level ?? EFFORT_LEVELS[EFFORT_LEVELS.indexOf(present) + 1]
    if (wish === undefined || EFFORT_LEVELS.indexOf(wish) <= EFFORT_LEVELS.indexOf(present)) {
      return { output: `the effort is ${present} already, and it only rises within a turn` }
    }
    turn.raise(wish)
    return { output: `the effort is ${wish} from the next step (it was ${present})` }
  },
})

function moving(leversOf: LeversOf, turnId: string): Levers {
  const turn = leversOf(turnId)
  if (turn) return turn
  throw new ToolFailure("the turn is over")
}
