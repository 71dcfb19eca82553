/** What a key does. Keys of the screen come first, those of reading second; the editor gets the rest. */
import { matchesKey, parseKey, type TUI } from "@earendil-works/pi-tui"
import type { Clock } from "../../../lib/clock.ts"
import type { Session } from "../session.ts"
import type { CommandDesk } from "./commands.ts"
import type { InputLine } from "./input-line.ts"
import { ACTION_KEYS, type KeyAction } from "./keys.ts"
import type { RequestPanel } from "./request-panel.ts"
import type { Transcript } from "./transcript.ts"

export interface KeyState {
  /** Tab in an empty input steps through what unfolds. */
  isReading: boolean
  /** Until this instant a second Ctrl+C leaves. */
  leaveUntilMs: number
}

/** What keys act upon: the screen and its parts. */
export interface KeyTarget {
  readonly parts: {
    tui: Pick<TUI, "requestRender">
    session: Session
    clock: Clock
    leave(): void
    suspend(): void
  }
  readonly transcript: Transcript
  readonly input: InputLine
  readonly desk: CommandDesk
  readonly requests: RequestPanel
  readonly keys: KeyState
  attempt(action: () => Promise<void> | void): void
  scroll(move: () => void): void
  say(text: string): void
  clearHint(): void
}

const LEAVE_AGAIN_MS = 2000

export function handleKey(data: string, screen: KeyTarget): void {
  const { input, keys, requests } = screen
  const isCompleting = input.editor.isShowingAutocomplete()
  if (!isCompleting && requests.handleKey(data, input.isEmpty())) return
  if (keys.isReading && readKey(data, screen)) return
  const action = actionOf(data)
  // Twice means one right after the other.
  if (action !== "leave") keys.leaveUntilMs = 0
  if (action !== undefined && act(action, screen)) return
  if (input.isEmpty() && isQuestionMark(data)) screen.desk.showHelp()
  else if (input.isEmpty() && matchesKey(data, "tab")) step(1, screen)
  else input.editor.handleInput(data)
}

/** Some terminals tell that Shift was held, though the character needs it. */
function isQuestionMark(data: string): boolean {
  const key = parseKey(data)
  return key === "?" || key === "shift+?"
}

function actionOf(data: string): KeyAction | undefined {
  // Printable text, most of what comes, is no action.
  if (data.length === 1 && data >= " ") return undefined
  for (const [action, keys] of Object.entries(ACTION_KEYS))
    if (keys.some((key) => matchesKey(data, key))) return action as KeyAction
  return undefined
}

/** Whether the key was one of reading; any other ends it and goes on to its owner. */
function readKey(data: string, screen: KeyTarget): boolean {
  const { transcript, keys } = screen
  if (matchesKey(data, "up") || matchesKey(data, "shift+tab")) return step(-1, screen)
  if (matchesKey(data, "down") || matchesKey(data, "tab")) return step(1, screen)
  if (matchesKey(data, "enter") || matchesKey(data, "space")) {
    if (transcript.selected) transcript.folds.toggle(transcript.selected)
    return true
  }
  keys.isReading = false
  transcript.clearSelection()
  return matchesKey(data, "escape")
}

function step(by: -1 | 1, screen: KeyTarget): true {
  // The first step is upwards from the end: what one looks for has just gone by.
  const isFirst = !screen.keys.isReading
  screen.keys.isReading = true
  screen.transcript.select(isFirst ? -1 : by)
  return true
}

/** Whether the action took the key. */
function act(action: KeyAction, screen: KeyTarget): boolean {
  const { transcript, desk, parts, input } = screen
  switch (action) {
    case "leave":
      return clearOrLeave(screen)
    case "leave-empty":
      if (!input.isEmpty()) return false
      parts.leave()
      return true
    case "suspend":
      parts.suspend()
      return true
    case "stop":
      return stop(screen)
    case "redraw":
      parts.tui.requestRender(true)
      return true
    case "chats":
      desk.showChats()
      return true
    case "new":
      screen.attempt(() => parts.session.newChat())
      return true
    case "fold-tools":
      transcript.folds.toggleKind("tool_call")
      return true
    case "fold-thinking":
      transcript.folds.toggleKind("thinking")
      return true
    default:
      return scroll(action, screen)
  }
}

type ScrollAction = Exclude<
  KeyAction,
  | ("leave" | "leave-empty" | "suspend" | "stop" | "redraw")
  | ("chats" | "new" | "fold-tools" | "fold-thinking")
>

function scroll(action: ScrollAction, screen: KeyTarget): true {
  const { transcript } = screen
  const moves: Record<ScrollAction, () => void> = {
    "page-up": () => transcript.scrollPage(-1),
    "page-down": () => transcript.scrollPage(1),
    "line-up": () => transcript.scrollBy(-1),
    "line-down": () => transcript.scrollBy(1),
    "to-start": () => transcript.toStart(),
    "to-end": () => transcript.toEnd(),
  }
  screen.scroll(moves[action])
  return true
}

/** The first press empties the input, a second one within two seconds leaves. */
function clearOrLeave(screen: KeyTarget): true {
  const { parts, keys, input } = screen
  const nowMs = parts.clock.now()
  if (nowMs < keys.leaveUntilMs) parts.leave()
  keys.leaveUntilMs = nowMs + LEAVE_AGAIN_MS
  input.setText("")
  screen.say("Ctrl+C again leaves")
  return true
}

/** Esc goes to what is nearest: completion, words that wait for a lost kernel, running turn, scrolled window, notice. */
function stop(screen: KeyTarget): boolean {
  const { parts, input, transcript } = screen
  if (input.editor.isShowingAutocomplete()) return false
  screen.clearHint()
  const words = parts.session.withdraw()
  if (words !== undefined) input.setText([words, input.editor.getText()].filter(Boolean).join("\n"))
  else if (parts.session.state().turns.length > 0) screen.attempt(() => parts.session.cancel())
  else if (!transcript.isFollowing) transcript.toEnd()
  else parts.session.dismissNotice()
  return true
}
