/** What opens above the conversation: one box over another, each sized to the terminal. */
import type { Component, TUI } from "@earendil-works/pi-tui"

/** Runs an action; what goes wrong is shown to the user. */
export type Attempt = (action: () => Promise<void> | void) => void

export interface Boxes {
  open(make: (close: () => void) => Component): void
  isOpen(): boolean
  /** Rows that a list may take, so that its frame fits. */
  listRows(): number
  /** Rows for a text that is read at one go. */
  textRows(): number
}

/** Narrower terminals give a box all their columns. */
const NARROW_COLUMNS = 64
/** Border, search, subtitle, keys, border, and a line of the conversation above and below. */
const CHROME_ROWS = 7
/** Border, keys, border. */
const FRAME_ROWS = 3
const LIST_ROWS_MAX = 20

export function createBoxes(tui: TUI): Boxes {
  return {
    open(make) {
      const handle = tui.showOverlay(
        make(() => handle.hide()),
        {
          anchor: "center",
          width: tui.terminal.columns < NARROW_COLUMNS ? "100%" : "80%",
          maxHeight: "100%",
        },
      )
    },
    isOpen: () => tui.hasOverlay(),
    listRows: () => Math.max(1, Math.min(LIST_ROWS_MAX, tui.terminal.rows - CHROME_ROWS)),
    textRows: () => Math.max(1, tui.terminal.rows - FRAME_ROWS),
  }
}
