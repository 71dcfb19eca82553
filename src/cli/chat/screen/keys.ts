/** Every key of the screen in one table: what is pressed, what it does, and the words for help and guide. */
import type { KeyId } from "@earendil-works/pi-tui"

export type KeyAction =
  | "leave"
  | "leave-empty"
  | "suspend"
  | "stop"
  | "redraw"
  | "chats"
  | "new"
  | "fold-tools"
  | "fold-thinking"
  | "page-up"
  | "page-down"
  | "line-up"
  | "line-down"
  | "to-start"
  | "to-end"

/** Keys that work whatever stands in the input; the editor gets all others. */
export const ACTION_KEYS: Readonly<Record<KeyAction, readonly KeyId[]>> = {
  leave: ["ctrl+c"],
  "leave-empty": ["ctrl+d"],
  suspend: ["ctrl+z"],
  stop: ["escape"],
  redraw: ["ctrl+l"],
  chats: ["ctrl+p"],
  new: ["ctrl+n"],
  "fold-tools": ["ctrl+o"],
  "fold-thinking": ["ctrl+t"],
  "page-up": ["pageUp"],
  "page-down": ["pageDown"],
  "line-up": ["shift+up", "ctrl+up"],
  "line-down": ["shift+down", "ctrl+down"],
  "to-start": ["ctrl+home"],
  "to-end": ["ctrl+end"],
}

/** Rows of the help and of the guide. */
export const KEY_HELP: readonly { keys: string; about: string }[] = [
  { keys: "Enter", about: "send; while an answer comes, it waits" },
  {
    keys: "Alt+Enter, Ctrl+J",
    about: "new line; Shift+Enter in newer terminals",
  },
  {
    keys: "Esc",
    about: "refuse what is asked; take back what waits for a lost kernel; stop the answer",
  },
  { keys: "Ctrl+C", about: "empty the input; twice: leave" },
  { keys: "Ctrl+D", about: "leave, when the input is empty" },
  { keys: "Ctrl+Z", about: "back to the shell; fg returns" },
  { keys: "Up, Down", about: "earlier messages, in an empty input" },
  { keys: "/", about: "commands; Tab completes" },
  { keys: "?", about: "this help, in an empty input" },
  { keys: "Ctrl+P", about: "chats" },
  { keys: "Ctrl+N", about: "new chat" },
  { keys: "PgUp, PgDn", about: "scroll a page; Shift+Up, Shift+Down a line" },
  { keys: "Ctrl+Home, Ctrl+End", about: "first and newest message" },
  { keys: "Ctrl+O", about: "unfold and fold tool calls" },
  { keys: "Ctrl+T", about: "unfold and fold thinking" },
  { keys: "Tab", about: "step through what Enter unfolds, in an empty input" },
  { keys: "Ctrl+L", about: "draw the screen anew" },
  {
    keys: "mouse",
    about: "wheel scrolls, click unfolds, drag copies",
  },
]
