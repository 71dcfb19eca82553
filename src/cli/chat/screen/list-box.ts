/**
 * A list to choose from: type to narrow it, arrows to move, Enter to take. Chats, models, efforts, folders
 * and messages are all chosen here; what differs comes as options.
 */
import {
  type Component,
  type Focusable,
  fuzzyFilter,
  Input,
  type KeyId,
  matchesKey,
  type TuiMouseEvent,
  type TuiMouseEventResult,
  truncateToWidth,
  visibleWidth,
} from "@earendil-works/pi-tui"
import { FRAME_COLUMNS, framed } from "./frame.ts"
import type { Theme } from "./theme.ts"

export interface Choice {
  id: string
  label: string
  /** Stands at the right end, dimmed. */
  hint?: string
}

export interface ListBoxOptions {
  theme: Theme
  title: () => string
  choices: () => readonly Choice[]
  /** Which one the cursor stands on at first. */
  initial?: string
  /** Words under the title, such as the folder that is shown. */
  subtitle?: () => string
  keys: string
  /** Stands for the list when it has no choice. */
  empty: () => string
  /** Rows of the list itself. */
  rows: () => number
  onChoose(choice: Choice): void
  onClose(): void
  /** Without it the typed words narrow the choices here. */
  onSearch?(text: string): void
  /** Further keys, with the choice under the cursor. */
  actions?: readonly { key: KeyId; run(choice: Choice | undefined): void }[]
}

const PAGE_ROWS = 10
/** Lines above the list: the border, the search and the subtitle. */
const LIST_TOP = 3

export class ListBox implements Component, Focusable {
  readonly capturesViewportInput = true
  private readonly input = new Input({ prompt: "search: " })
  private readonly options: ListBoxOptions
  private chosenId: string | undefined
  private firstShown = 0

  constructor(options: ListBoxOptions) {
    this.options = options
    this.chosenId = options.initial
  }

  get focused(): boolean {
    return this.input.focused
  }

  set focused(focused: boolean) {
    this.input.focused = focused
  }

  invalidate(): void {
    this.input.invalidate()
  }

  render(width: number): string[] {
    const { theme, title, subtitle, keys, empty } = this.options
    const room = Math.max(1, width - FRAME_COLUMNS)
    const shown = this.shown()
    const at = this.indexIn(shown)
    const rows = Math.max(1, this.options.rows())
    this.firstShown = Math.max(0, Math.min(at - Math.floor(rows / 2), shown.length - rows))
    const window = shown.slice(this.firstShown, this.firstShown + rows)
    const list = window.map((choice, index) =>
      choiceLine(choice, { room, theme, isChosen: this.firstShown + index === at }),
    )
    const count = shown.length > rows ? `${at + 1} of ${shown.length}` : ""
    return framed(
      {
        title: title(),
        lines: [
          ...this.input.render(room),
          theme.dim([subtitle?.(), count].filter(Boolean).join(" · ")),
          ...(list.length === 0 ? [theme.dim(empty())] : list),
        ],
        keys,
      },
      width,
      theme,
    )
  }

  handleInput(data: string): void {
    const shown = this.shown()
    const choice = shown[this.indexIn(shown)]
    const action = this.options.actions?.find(({ key }) => matchesKey(data, key))
    if (action) action.run(choice)
    else if (matchesKey(data, "escape") || matchesKey(data, "ctrl+c")) this.options.onClose()
    else if (matchesKey(data, "enter")) choice && this.options.onChoose(choice)
    else if (matchesKey(data, "up")) this.move(-1)
    else if (matchesKey(data, "down")) this.move(1)
    else if (matchesKey(data, "pageUp")) this.move(-PAGE_ROWS)
    else if (matchesKey(data, "pageDown")) this.move(PAGE_ROWS)
    else this.type(data)
  }

  handleMouse(event: TuiMouseEvent): TuiMouseEventResult | undefined {
    if (event.type === "wheel") {
      this.move(Math.sign(event.wheelDelta ?? 0))
      return { handled: true }
    }
    if (event.type !== "click" || event.button !== "left") return undefined
    const choice = this.shown()[this.firstShown + event.y - LIST_TOP]
    if (choice) this.options.onChoose(choice)
    return { handled: true }
  }

  private type(data: string): void {
    const before = this.input.getValue()
    this.input.handleInput(data)
    const text = this.input.getValue()
    if (text === before) return
    this.chosenId = undefined
    this.options.onSearch?.(text.trim())
  }

  private move(by: number): void {
    const shown = this.shown()
    const index = Math.max(0, Math.min(shown.length - 1, this.indexIn(shown) + by))
    this.chosenId = shown[index]?.id
  }

  private indexIn(shown: readonly Choice[]): number {
    return Math.max(
      0,
      shown.findIndex(({ id }) => id === this.chosenId),
    )
  }

  private shown(): readonly Choice[] {
    const text = this.input.getValue().trim()
    const all = this.options.choices()
    if (text === "" || this.options.onSearch) return all
    return fuzzyFilter([...all], text, ({ label, hint = "" }) => `${label} ${hint}`)
  }
}

function choiceLine(
  { label, hint = "" }: Choice,
  look: { room: number; theme: Theme; isChosen: boolean },
): string {
  const { room, theme, isChosen } = look
  const start = isChosen ? "› " : "  "
  const hintRoom = Math.min(visibleWidth(hint), Math.floor(room / 2))
  const cutHint = truncateToWidth(hint, hintRoom, "…")
  const labelRoom = Math.max(1, room - start.length - visibleWidth(cutHint) - 1)
  const cutLabel = truncateToWidth(label, labelRoom, "…")
  const gap = " ".repeat(Math.max(1, labelRoom - visibleWidth(cutLabel) + 1))
  const words = isChosen ? theme.bold(theme.accent(start + cutLabel)) : start + cutLabel
  return cutHint === "" ? words : `${words}${gap}${theme.dim(cutHint)}`
}
