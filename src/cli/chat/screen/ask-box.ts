/** A question above the conversation: a line of text, or yes or no. */
import { type Component, type Focusable, Input, matchesKey, parseKey } from "@earendil-works/pi-tui"
import { FRAME_COLUMNS, framed } from "./frame.ts"
import type { Theme } from "./theme.ts"

/** Ctrl+E: the library leaves the cursor at the start of a value that is set. */
const END_OF_LINE = "\x05"

export class TextBox implements Component, Focusable {
  readonly capturesViewportInput = true
  private readonly input = new Input({ prompt: "" })
  private readonly title: string
  private readonly theme: Theme
  private readonly onClose: () => void

  constructor(options: {
    title: string
    initial: string
    theme: Theme
    onSubmit(text: string): void
    onClose(): void
  }) {
    this.title = options.title
    this.theme = options.theme
    this.onClose = options.onClose
    this.input.setValue(options.initial)
    this.input.handleInput(END_OF_LINE)
    this.input.onSubmit = (text) => options.onSubmit(text.trim())
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
    const lines = this.input.render(Math.max(1, width - FRAME_COLUMNS))
    return framed({ title: this.title, lines, keys: "Enter take · Esc leave" }, width, this.theme)
  }

  handleInput(data: string): void {
    if (matchesKey(data, "escape") || matchesKey(data, "ctrl+c")) this.onClose()
    else this.input.handleInput(data)
  }
}

export class ConfirmBox implements Component {
  readonly capturesViewportInput = true
  private readonly question: string
  private readonly theme: Theme
  private readonly onAnswer: (yes: boolean) => void

  constructor(options: { question: string; theme: Theme; onAnswer(yes: boolean): void }) {
    this.question = options.question
    this.theme = options.theme
    this.onAnswer = options.onAnswer
  }

  invalidate(): void {}

  render(width: number): string[] {
    return framed({ title: this.question, lines: [], keys: "y yes · n no" }, width, this.theme)
  }

  handleInput(data: string): void {
    const key = parseKey(data)
    if (key === "y" || key === "enter") this.onAnswer(true)
    else if (key === "n" || key === "escape" || key === "ctrl+c") this.onAnswer(false)
  }
}
