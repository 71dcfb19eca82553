/** What a benchmark gives: rows of figures with their goals, and the table that people read. */

export interface Row {
  figure: string
  /** Undefined: not measured, and `note` says why. */
  measured: number | undefined
  unit: string
  /** Undefined: shown for comparison, without a promise. */
  goal?: Goal | undefined
  /** The same figure of a minimal kernel in one compiled binary, in the row's unit. */
  floor?: number | undefined
  /** Peers' medians: pi / opencode / OpenClaw. */
  peers?: string | undefined
  note?: string | undefined
}

export type Goal = { max: number } | { min: number }

/** `–` where nothing was measured or promised. */
export function verdict({ measured, goal }: Row): "met" | "MISSED" | "–" {
  if (measured === undefined || goal === undefined) return "–"
  const met = "max" in goal ? measured <= goal.max : measured >= goal.min
  return met ? "met" : "MISSED"
}

/** The rows as aligned text: figure, measured, goal, floor, peers, met or not, and what there is to note. */
export function table(rows: readonly Row[]): string {
  const lines = [
    ["figure", "measured", "goal", "floor", "pi / opencode / OpenClaw", "met", "note"],
    ...rows.map((row) => [
      row.figure,
      row.measured === undefined ? "–" : `${number(row.measured)} ${row.unit}`,
      row.goal ? goalText(row.goal) : "–",
      row.floor === undefined ? "–" : number(row.floor),
      row.peers ?? "–",
      verdict(row),
      row.note ?? "",
    ]),
  ]
  const widths = lines[0]!.map((_, column) =>
    Math.max(...lines.map((line) => line[column]!.length)),
  )
  const text = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join("  ")
      .trimEnd()
  const [head, ...body] = lines.map(text)
  return [head, "-".repeat(head!.length), ...body, ""].join("\n")
}

const goalText = (goal: Goal): string =>
  "max" in goal ? `≤ ${number(goal.max)}` : `≥ ${number(goal.min)}`

/** Three digits that matter, thousands grouped. */
const number = (value: number): string =>
  value.toLocaleString("en", {
    maximumFractionDigits: Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2,
  })
