/**
 * The lists of a turn: skills, tool sets, hidden tools. Computed at its entry and never again in it, so that a
 * set that changes in mid-turn moves the tools of the next step and leaves the cached system part as it is.
 */
import { catalogueBudget, fitCatalogue } from "../context/catalogue-budget.ts"
import { catalogueBlocks } from "../context/fragments/catalogue.ts"
import { workingMode } from "../context/fragments/working-mode.ts"
import type { Log } from "../lib/log.ts"
import type { Toolset } from "../schema/toolset.ts"
import type { ReachTurn } from "../tools/reach.ts"
import type { TurnParts } from "./parts.ts"

export type Catalogue = ReturnType<typeof createCatalogue>

export function createCatalogue(
  { freeze, skills, toolsets }: Pick<TurnParts, "freeze" | "skills" | "toolsets">,
  at: { reach: ReachTurn; toolset: Toolset | undefined; log: Log },
) {
  const { identity } = at.reach
  const { specs, hidden } = freeze(at.reach)
  const offered = new Set(specs.map(({ name }) => name))
  // What nothing could be done with is not listed.
  const blocks = catalogueBlocks({
    skills: offered.has("skill") ? skills.usable(identity) : [],
    toolsets: offered.has("toolset") ? toolsets.list() : [],
    hidden: offered.has("tool_load") ? hidden : [],
    isMaster: identity.master,
  })
  const mode = workingMode(at.toolset, identity.master)
  const texts = new Map<number, string>()

  return {
    /** For a model with this window, in tokens. */
    text: (window: number | undefined): string => {
      const budget = catalogueBudget(window)
      const known = texts.get(budget)
      if (known !== undefined) return known
      const fitted = fitCatalogue(blocks, budget)
      const { shortened, dropped } = fitted
      if (shortened > 0 || dropped > 0) {
        at.log.warn("the lists of skills, tool sets and hidden tools are too long for the prompt", {
          ...{ shortened, dropped, budget },
        })
      }
      const text = [...fitted.texts, mode].filter(Boolean).join("\n\n")
      texts.set(budget, text)
      return text
    },
  }
}
