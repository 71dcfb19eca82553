/** The section `# Memory` of a prompt: core within its share, what was recalled in the rest, and what is said of it. */
import type { PromptLine } from "../schema/memory.ts"
import type { RecallHit } from "./recall-engine.ts"
import { lineOf, toWhy } from "./record.ts"
import type { MemoryRow } from "./store/memory-table.ts"

/** So much of the section may be core: without a bound it would push out all that is recalled. */
export const CORE_SHARE = 0.6

const TITLE = "# Memory"
export const COLUMNS = "id | kind | age | importance | content"
export const WITHHELD =
  "(Private records are withheld: others may read along here. Say so instead of guessing what they hold.)"

const fellOut = (count: number): string =>
  `(${count} core record${count === 1 ? "" : "s"} did not fit into the share of core: fold some into one, or make them facts.)`

export interface SectionParts {
  /** The most important first. */
  core: readonly MemoryRow[]
  /** Best first. */
  recalled: readonly { row: MemoryRow; hit: RecallHit }[]
  topK: number
  /** Share of the best score below which nothing is recalled. */
  floor: number
  /** Characters of the whole section. */
  budget: number
  /** Private records exist that this turn may not see, and its reader should know. */
  withheld: boolean
  now: number
}

export interface Section {
  text: string
  /** All that was looked at, in the order of the section. */
  lines: PromptLine[]
}

export function memorySection(parts: SectionParts): Section {
  const budget = parts.budget - TITLE.length - COLUMNS.length - 2 - noteRoom(parts)
  const core = coreLines(parts, Math.floor(budget * CORE_SHARE))
  const left = budget - lengthOf(core)
  const recalled = recalledLines(parts, left)
  const lines = [...core, ...recalled]
  const shown = lines.filter((line) => line.in_prompt).map(({ line }) => line)
  const out = core.filter((line) => !line.in_prompt).length
  const notes = [out > 0 && fellOut(out), parts.withheld && WITHHELD].filter(
    (note) => note !== false,
  )
  if (shown.length + notes.length === 0) return { text: "", lines }
  const table = shown.length > 0 ? [COLUMNS, ...shown] : []
  return { text: [TITLE, ...table, ...notes].join("\n"), lines }
}

/** Notes are a part of the section and within its budget, too. */
const noteRoom = ({ withheld, core }: SectionParts): number =>
  (withheld ? WITHHELD.length + 1 : 0) + (core.length > 0 ? fellOut(core.length).length + 1 : 0)

const lengthOf = (lines: readonly PromptLine[]): number =>
  lines.reduce((sum, { in_prompt, line }) => sum + (in_prompt ? line.length + 1 : 0), 0)

/** A line that does not fit is passed over: a later, shorter one still may. */
function coreLines({ core, now }: SectionParts, room: number): PromptLine[] {
  let left = room
  return core.map((row) => {
    const line = lineOf(row, now)
    const fits = line.length + 1 <= left
    if (fits) left -= line.length + 1
    return {
      ...{ id: row.id, kind: row.kind, line, in_prompt: fits },
      ...{ left_out: fits ? null : "core_share", score: null, why: null },
    }
  })
}

function recalledLines(parts: SectionParts, room: number): PromptLine[] {
  const { recalled, topK, floor, now } = parts
  const least = (recalled[0]?.hit.score ?? 0) * floor
  let left = room
  let taken = 0
  return recalled.map(({ row, hit }) => {
    const line = lineOf(row, now)
    const reason = (): PromptLine["left_out"] => {
      if (hit.score < least) return "floor"
      if (taken >= topK) return "top_k"
      return line.length + 1 > left ? "budget" : null
    }
    const left_out = reason()
    if (left_out === null) {
      taken++
      left -= line.length + 1
    }
    return {
      ...{ id: row.id, kind: row.kind, line, in_prompt: left_out === null, left_out },
      ...{ score: hit.score, why: toWhy(hit) },
    }
  })
}

const PREVIOUS_MAX_CHARS = 200
const PREVIOUS_MAX = 2

/** What to recall by: the whole message and the beginnings of those just before it, newest first. */
export const recallText = (message: string, previous: readonly string[]): string =>
  [
    message,
    ...previous.slice(0, PREVIOUS_MAX).map((text) => text.slice(0, PREVIOUS_MAX_CHARS)),
  ].join("\n")
