/**
 * Words from models, tools and people on their way to the terminal. They may hold escape sequences that
 * would move the cursor, retitle the window or fill the clipboard, and marks that turn the writing
 * direction to hide what a command does; none of these reaches the screen.
 */
import { stripTerminalSequences } from "@earendil-works/pi-tui"

/** Control characters but newline and tab. */
const CONTROL = /[^\P{Cc}\n\t]/gu
/** Overrides and isolates of the writing direction, https://trojansource.codes. */
const DIRECTION = /[\u202a-\u202e\u2066-\u2069]/g
/** What a program drew over: a progress bar leaves only its last state. */
const OVERDRAWN = /[^\n]*\r(?!\n)/g
const TAB = "    "

/** Text of several lines that is safe to draw. */
export function safeText(text: string): string {
  const unix = text.includes("\r") ? text.replaceAll("\r\n", "\n").replace(OVERDRAWN, "") : text
  return stripTerminalSequences(unix)
    .replace(CONTROL, "")
    .replace(DIRECTION, "")
    .replaceAll("\t", TAB)
}

/** The same in one line. */
export const safeLine = (text: string): string =>
  safeText(text.replace(/\s*[\r\n]+\s*/g, " ")).trim()
