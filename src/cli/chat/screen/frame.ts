/** The frame around everything that opens above the conversation: a title, the inside, the keys that work. */
import { truncateToWidth, visibleWidth } from "@earendil-works/pi-tui"
import type { Theme } from "./theme.ts"

export interface Framed {
  title: string
  lines: readonly string[]
  /** The keys that work here, in one line. */
  keys: string
}

/** Columns that the frame itself takes. */
export const FRAME_COLUMNS = 4

export function framed({ title, lines, keys }: Framed, width: number, theme: Theme): string[] {
  const room = Math.max(1, width - FRAME_COLUMNS)
  const row = (line: string) => {
    const cut = truncateToWidth(line, room, "…")
    const padding = " ".repeat(Math.max(0, room - visibleWidth(cut)))
    return `${theme.dim("│")} ${cut}${padding} ${theme.dim("│")}`
  }
  const name = truncateToWidth(` ${title} `, room, "…")
  const rest = "─".repeat(Math.max(0, width - 3 - visibleWidth(name)))
  return [
    `${theme.dim("╭─")}${theme.bold(name)}${theme.dim(`${rest}╮`)}`,
    ...lines.map(row),
    row(theme.dim(keys)),
    theme.dim(`╰${"─".repeat(Math.max(0, width - 2))}╯`),
  ]
}
