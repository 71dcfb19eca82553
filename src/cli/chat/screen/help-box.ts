/** Keys and commands, scrolled when the terminal is low. */
import { type Component, matchesKey, visibleWidth, wrapTextWithAnsi } from "@earendil-works/pi-tui"
import { COMMANDS } from "./commands.ts"
import { FRAME_COLUMNS, framed } from "./frame.ts"
import { KEY_HELP } from "./keys.ts"
import type { Theme } from "./theme.ts"

/** Where a row is wide enough for two columns, the first takes so much. */
const NAME_COLUMNS = 21
const TWO_COLUMNS_MIN = 56

export class HelpBox implements Component {
  readonly capturesViewportInput = true
  private readonly theme: Theme
  private readonly rows: () => number
  private readonly onClose: () => void
  private scrolled = 0

  constructor(options: { theme: Theme; rows(): number; onClose(): void }) {
    this.theme = options.theme
    this.rows = options.rows
    this.onClose = options.onClose
  }

  invalidate(): void {}

  render(width: number): string[] {
    const all = this.lines(Math.max(1, width - FRAME_COLUMNS))
    const rows = Math.max(1, this.rows())
    this.scrolled = Math.max(0, Math.min(this.scrolled, all.length - rows))
    const lines = all.slice(this.scrolled, this.scrolled + rows)
    const keys = all.length > rows ? "Up, Down scroll · Esc leave" : "Esc leave"
    return framed({ title: "Help", lines, keys }, width, this.theme)
  }

  handleInput(data: string): void {
    if (matchesKey(data, "up")) this.scrolled--
    else if (matchesKey(data, "down")) this.scrolled++
    else if (matchesKey(data, "pageUp")) this.scrolled -= this.rows()
    else if (matchesKey(data, "pageDown") || matchesKey(data, "space")) this.scrolled += this.rows()
    else this.onClose()
  }

  private lines(width: number): string[] {
    const commands = COMMANDS.map(({ name, argument, about }) => ({
      keys: `/${name}${argument ? ` ${argument}` : ""}`,
      about,
    }))
    return [...KEY_HELP, ...commands].flatMap((row) => this.row(row, width))
  }

  private row({ keys, about }: { keys: string; about: string }, width: number): string[] {
    const name = this.theme.accent(keys)
    if (width < TWO_COLUMNS_MIN)
      return [name, ...wrapTextWithAnsi(about, Math.max(1, width - 2)).map((line) => `  ${line}`)]
    const gap = " ".repeat(Math.max(1, NAME_COLUMNS - visibleWidth(keys)))
    const [first = "", ...rest] = wrapTextWithAnsi(about, width - NAME_COLUMNS)
    return [name + gap + first, ...rest.map((line) => " ".repeat(NAME_COLUMNS) + line)]
  }
}
