/**
 * The whole screen as one component: conversation, what the kernel asks, what happens, input, footer. It
 * gives each part its rows; `screen-keys.ts` gives every key its owner.
 */
import type {
  Component,
  Focusable,
  TUI,
  TuiMouseEvent,
  TuiMouseEventResult,
} from "@earendil-works/pi-tui"
import type { Clock } from "../../../lib/clock.ts"
import { errorText } from "../../../lib/error.ts"
import type { Session, SessionState } from "../session.ts"
import { createBoxes } from "./boxes.ts"
import type { CommandDesk } from "./commands.ts"
import { contentOf } from "./content.ts"
import { createDesk } from "./desk.ts"
import { createHighlight } from "./highlight.ts"
import { createInputLine, type InputLine } from "./input-line.ts"
import { isFoldable } from "./item-view.ts"
import { RequestPanel } from "./request-panel.ts"
import { safeLine } from "./safe-text.ts"
import { handleKey, type KeyState } from "./screen-keys.ts"
import { activityLine, footerLine, welcomeLines } from "./status.ts"
import { markdownTheme, type Theme } from "./theme.ts"
import { Transcript } from "./transcript.ts"

export interface ScreenParts {
  tui: TUI
  session: Session
  theme: Theme
  clock: Clock
  leave(): void
  suspend(): void
}

const HINT_MS = 4000
/** What the kernel asks takes at most this share of the rows. */
const REQUEST_SHARE = 0.6

export class Screen implements Component, Focusable {
  /** Scrolling keys come here and not to the library's own viewport. */
  readonly capturesViewportInput = true
  readonly parts: ScreenParts
  readonly transcript: Transcript
  readonly input: InputLine
  readonly desk: CommandDesk
  readonly requests: RequestPanel
  readonly keys: KeyState = { isReading: false, leaveUntilMs: 0 }
  private hint: { text: string; untilMs: number } | undefined
  private shownChat: string | undefined
  private transcriptRows = 0
  private older: "idle" | "loading" | "failed" = "idle"

  constructor(parts: ScreenParts) {
    const { tui, session, theme } = parts
    this.parts = parts
    this.transcript = new Transcript(theme, markdownTheme(theme, createHighlight(theme)))
    this.desk = createDesk({
      ...{ session, theme, boxes: createBoxes(tui) },
      attempt: this.attempt,
      edit: (text) => this.input.setText(text),
      leave: parts.leave,
    })
    this.requests = new RequestPanel({ session, theme, attempt: this.attempt })
    this.input = createInputLine({
      ...{ tui, session, theme },
      onMessage: (text) => {
        this.transcript.toEnd()
        this.attempt(() => speak(session, text))
      },
      onCommand: (command, argument) => this.attempt(() => command.run(this.desk, argument)),
      onProblem: (text) => this.say(text),
    })
  }

  get focused(): boolean {
    return this.input.editor.focused
  }

  set focused(focused: boolean) {
    this.input.editor.focused = focused
  }

  invalidate(): void {
    this.input.editor.invalidate()
  }

  /** As many lines as the terminal has rows. On a low terminal the input comes first. */
  render(width: number): string[] {
    const { session, theme, tui } = this.parts
    const { rows } = tui.terminal
    const state = session.state()
    this.followChat(state)
    const editor = this.input.editor.render(width)
    const foot = footerLine(state, width, theme)
    const now = this.activity(state, rows - editor.length - 2)
    const free = rows - editor.length - now.length - 2
    const asked = this.requests.render({
      width,
      rows: Math.floor(Math.min(free, rows * REQUEST_SHARE)),
    })
    const below = [...asked, ...now, ...editor, foot].slice(0, rows)
    this.transcriptRows = rows - below.length
    this.transcript.setContent(contentOf(state, width, theme))
    const lines = this.transcript.render(width, this.transcriptRows)
    this.wantOlder(state)
    const isEmpty = state.items.length === 0
    const welcome = isEmpty ? welcomeLines(state, width, theme).slice(0, lines.length) : []
    return [...welcome, ...lines.slice(welcome.length), ...below]
  }

  handleInput(data: string): void {
    handleKey(data, this)
  }

  handleMouse(event: TuiMouseEvent): TuiMouseEventResult | undefined {
    if (event.type === "wheel") {
      this.scroll(() => this.transcript.scrollBy(event.wheelDelta ?? 0))
      return { handled: true }
    }
    if (event.type !== "click" || event.button !== "left") return undefined
    const item = event.y < this.transcriptRows ? this.transcript.itemAt(event.y) : undefined
    if (item === undefined || !isFoldable(item)) return undefined
    this.transcript.folds.toggle(item)
    return { handled: true }
  }

  scroll(move: () => void): void {
    move()
    if (this.older === "failed") this.older = "idle"
  }

  /** A word above the input for some seconds. */
  say(text: string): void {
    this.hint = { text: safeLine(text), untilMs: this.parts.clock.now() + HINT_MS }
    setTimeout(() => this.parts.tui.requestRender(), HINT_MS + 1).unref()
    this.parts.tui.requestRender()
  }

  clearHint(): void {
    this.hint = undefined
  }

  /** Runs an action of the user; what goes wrong is told and harms nothing. */
  readonly attempt = (action: () => Promise<void> | void): void => {
    this.parts.session.dismissNotice()
    void (async () => {
      try {
        await action()
      } catch (error) {
        this.say(errorText(error))
      }
      this.parts.tui.requestRender()
    })()
  }

  private activity(state: SessionState, room: number): string[] {
    const nowMs = this.parts.clock.now()
    if (this.hint && this.hint.untilMs <= nowMs) this.hint = undefined
    const isScrolled = !this.transcript.isFollowing
    const moment = { nowMs, hint: this.hint?.text, isScrolled }
    return activityLine(state, moment, this.parts.theme).slice(0, Math.max(0, room))
  }

  private followChat(state: SessionState): void {
    if (state.chat?.id !== this.shownChat) {
      this.shownChat = state.chat?.id
      this.transcript.reset()
      this.older = "idle"
    }
    this.input.rememberWords(state)
  }

  /** The first item is in sight and is not the first there is. A failure waits for the next scroll. */
  private wantOlder(state: SessionState): void {
    if (this.older !== "idle" || !state.hasOlder || !this.transcript.isAtStart) return
    this.older = "loading"
    this.parts.session.loadOlder().then(
      () => {
        this.older = "idle"
        this.parts.tui.requestRender()
      },
      (error: unknown) => {
        this.older = "failed"
        this.say(errorText(error))
      },
    )
  }
}

/** Words typed while a question waits are its answer. */
function speak(session: Session, text: string): Promise<void> {
  const request = session.state().pending[0]
  return request?.kind === "question" ? session.answer(request, { text }) : session.send(text)
}
