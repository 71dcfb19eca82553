/** The lists of what is within reach and not in the prompt: skills, tool sets, hidden tools. */
import { firstSentence } from "../../lib/text.ts"
import type { Toolset } from "../../schema/toolset.ts"
import type { HiddenTool } from "../../tools/snapshot.ts"
import { modeMarks } from "../../toolsets/modes.ts"
import type { CatalogueBlock, CatalogueRow } from "../catalogue-budget.ts"
import { FAMILIES } from "./families.ts"
import hiddenTools from "./hidden-tools.txt" with { type: "text" }
import skillsHeader from "./skills.txt" with { type: "text" }
import toolSets from "./tool-sets.txt" with { type: "text" }

export interface CatalogueView {
  skills: readonly { name: string; description: string }[]
  toolsets: readonly Toolset[]
  hidden: readonly HiddenTool[]
  /** Modes hold in the master's turns alone, so the lists of others do not speak of them. */
  isMaster: boolean
}

/** A family with more hidden tools than this is one row. */
const FAMILY_MAX = 6
const PURPOSE_MAX_CHARS = 80
/** For a family that says nothing about itself. */
const NAMES_SHOWN = 5

/** Lists without entries are left out. */
export function catalogueBlocks(view: CatalogueView): CatalogueBlock[] {
  const { skills, toolsets, hidden, isMaster } = view
  const lists: CatalogueBlock[] = [
    { header: skillsHeader, rows: skills.map((skill) => ({ ...skill, marks: [] })) },
    { header: toolSets, rows: toolsets.map((set) => setRow(set, isMaster)) },
    { header: hiddenTools, rows: hiddenRows(hidden) },
  ]
  return lists
    .filter(({ rows }) => rows.length > 0)
    .map(({ header, rows }) => ({ header: header.trim(), rows }))
}

const setRow = (set: Toolset, isMaster: boolean): CatalogueRow => ({
  name: set.name,
  description: set.description,
  marks: isMaster ? modeMarks(set) : [],
})

/** In the order of the registry: family by family. */
function hiddenRows(hidden: readonly HiddenTool[]): CatalogueRow[] {
  const families = Map.groupBy(hidden, ({ group }) => group)
  return [...families].flatMap(([family, tools]) => {
    if (tools.length <= FAMILY_MAX) return tools.map(toolRow)
    return [{ name: family, description: about(family, tools), marks: [`[${tools.length} tools]`] }]
  })
}

const toolRow = ({ name, description }: HiddenTool): CatalogueRow => ({
  name,
  description: firstSentence(description, PURPOSE_MAX_CHARS),
  marks: [],
})

const about = (family: string, tools: readonly HiddenTool[]): string =>
  FAMILIES[family] ?? `${namesOf(tools)} …`

const namesOf = (tools: readonly HiddenTool[]): string =>
  tools
    .slice(0, NAMES_SHOWN)
    .map(({ name }) => name)
    .join(", ")
