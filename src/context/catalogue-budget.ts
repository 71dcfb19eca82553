/**
 * Fits the lists of what could be read or loaded (skills, tool sets, hidden tools) into one budget. While all
 * fits, nothing is touched. When it is tight, the longest descriptions lose their ends, one character each in
 * turn, so that a wordy entry takes nothing from its neighbours; names hold to the last, for a model does not
 * know what it is not told of. When even names are too many, each list loses its last rows in turn.
 */
import { head } from "../lib/text.ts"

export interface CatalogueRow {
  name: string
  description: string
  /** Stand behind the description whatever becomes of it: they say how the entry behaves. */
  marks: readonly string[]
}

export interface CatalogueBlock {
  header: string
  rows: readonly CatalogueRow[]
}

export interface FittedCatalogue {
  texts: string[]
  /** Descriptions that lost something. */
  shortened: number
  /** Rows that are not shown; each list says its own number. */
  dropped: number
}

/** Share of the model's window that all lists together may take, and the most of it in characters. */
const WINDOW_SHARE = 0.02
const CHARS_PER_TOKEN = 4
const CHARS_MAX = 16_000
/** Of a model that does not say: what today's smaller ones have. */
const WINDOW_UNKNOWN = 128_000

/** Characters for all lists together, headers included. `window` in tokens. */
export const catalogueBudget = (window: number = WINDOW_UNKNOWN): number =>
  Math.min(Math.floor(window * WINDOW_SHARE * CHARS_PER_TOKEN), CHARS_MAX)

/** A list keeps its header and one row at the least, so a budget below that is passed. */
export function fitCatalogue(blocks: readonly CatalogueBlock[], budget: number): FittedCatalogue {
  const shown = blocks.map((block) => ({ ...block, rows: [...block.rows] }))
  while (bareSize(shown, blocks) > budget && dropOneEach(shown, blocks, budget)) {}
  const rows = shown.flatMap((block) => block.rows)
  const limits = shares(
    rows.map((row) => described(row).length),
    budget - bareSize(shown, blocks),
  )
  const limitOf = new Map(rows.map((row, index) => [row, limits[index]!]))
  const texts = shown.map(({ header, rows: kept }, index) => {
    const gone = blocks[index]!.rows.length - kept.length
    const lines = kept.map(
      (row) => `- ${row.name}${cut(described(row), limitOf.get(row)!)}${marked(row)}`,
    )
    return [header, ...lines, ...(gone > 0 ? [goneLine(gone)] : [])].join("\n")
  })
  return {
    texts,
    shortened: rows.filter((row) => described(row).length > limitOf.get(row)!).length,
    dropped: blocks.reduce((sum, { rows: all }) => sum + all.length, 0) - rows.length,
  }
}

const described = ({ description }: CatalogueRow): string => (description ? `: ${description}` : "")
const marked = ({ marks }: CatalogueRow): string => marks.map((mark) => ` ${mark}`).join("")
const goneLine = (count: number): string => `(and ${count} more)`

/** What stays when all descriptions are gone, line ends included. */
function bareSize(shown: readonly CatalogueBlock[], all: readonly CatalogueBlock[]): number {
  return shown.reduce((sum, { header, rows }, index) => {
    const gone = all[index]!.rows.length - rows.length
    const names = rows.reduce((chars, row) => chars + 3 + row.name.length + marked(row).length, 0)
    return sum + header.length + 1 + names + (gone > 0 ? goneLine(gone).length + 1 : 0)
  }, 0)
}

/** One last row off each list in turn, until it fits; false when no list can give any more. */
function dropOneEach(
  shown: readonly { header: string; rows: CatalogueRow[] }[],
  all: readonly CatalogueBlock[],
  budget: number,
): boolean {
  let dropped = false
  for (const block of shown) {
    if (block.rows.length <= 1 || bareSize(shown, all) <= budget) continue
    block.rows.pop()
    dropped = true
  }
  return dropped
}

/** How much of each length may stay so that all fit: equal limits, and the rest one each from the start. */
function shares(lengths: readonly number[], space: number): number[] {
  let level = 0
  let left = Math.max(0, space)
  const ascending = [...lengths].sort((a, b) => a - b)
  for (const [index, length] of ascending.entries()) {
    const sharing = ascending.length - index
    const step = Math.min(length - level, Math.floor(left / sharing))
    level += step
    left -= step * sharing
    if (level < length) break
  }
  return lengths.map((length) => {
    if (length <= level) return length
    const extra = left > 0 ? 1 : 0
    left -= extra
    return level + extra
  })
}

/** Less than this tells nothing. */
const TELLING_CHARS = 8

function cut(text: string, limit: number): string {
  if (text.length <= limit) return text
  return limit < TELLING_CHARS ? "" : `${head(text, limit - 1).trimEnd()}…`
}
