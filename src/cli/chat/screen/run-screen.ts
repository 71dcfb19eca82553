/**
 * Starts and ends the full screen. Whatever ends it (a key, a signal, a closed terminal, a fault of our
 * own), the terminal gets its modes back; the library's own exit handler stands behind this one.
 */
import {
  KeybindingsManager,
  ProcessTerminal,
  setKeybindings,
  type TUI,
  TUI_KEYBINDINGS,
  TuiAltScreen,
} from "@earendil-works/pi-tui"
import type { Clock } from "../../../lib/clock.ts"
import type { Environment } from "../../../lib/environment.ts"
import type { Session } from "../session.ts"
import { Screen } from "./screen.ts"
import { isTicking, SPINNER_MS } from "./status.ts"
import { createTheme } from "./theme.ts"

export interface ScreenOptions {
  session: Session
  environment: Environment
  clock: Clock
}

export interface ScreenEnd {
  exitCode: number
  /** A fault of the client itself. */
  fault?: unknown
}

const EXIT_OK = 0
const EXIT_FAULT = 1
/** By custom: 128 and the number of the signal. */
const SIGNAL_EXITS = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const

/** Below this there is no room for an input and a word of answer. */
export const SCREEN_SIZE_MIN = { columns: 20, rows: 8 }

/** Why a terminal cannot hold the screen, in one line; undefined when it can. `name` is its TERM. */
export function screenProblem(terminal: {
  columns: number
  rows: number
  name: string | undefined
}): string | undefined {
  const { columns, rows, name } = terminal
  if (name === "dumb") return 'TERM=dumb knows no screen: give what to say with -p "TEXT"'
  if (columns >= SCREEN_SIZE_MIN.columns && rows >= SCREEN_SIZE_MIN.rows) return undefined
  const needed = `${SCREEN_SIZE_MIN.columns}×${SCREEN_SIZE_MIN.rows}`
  return `terminal too small: ${columns}×${rows}, needs ${needed}`
}

/** Shows the session until its user leaves. Resolves when the terminal is as it was before. */
export async function runScreen({
  session,
  environment,
  clock,
}: ScreenOptions): Promise<ScreenEnd> {
  freeScrollKeys()
  const tui = new TuiAltScreen(new ProcessTerminal())
  const { promise, resolve } = Promise.withResolvers<ScreenEnd>()
  const screen = new Screen({
    ...{ tui, session, clock },
    theme: createTheme(!environment.NO_COLOR),
    leave: () => resolve({ exitCode: EXIT_OK }),
    suspend: () => suspend(tui),
  })
  const unwatch = watchEnds(resolve)
  tui.setLayoutRoot(screen)
  tui.setFocus(screen)
  tui.start()
  const unsubscribe = session.subscribe(() => tui.requestRender())
  const ticker = setInterval(() => {
    if (isTicking(session.state())) tui.requestRender()
  }, SPINNER_MS)
  try {
    return await promise
  } finally {
    clearInterval(ticker)
    unsubscribe()
    tui.stop({ preserveScreen: true })
    unwatch()
  }
}

/** The conversation scrolls itself, so the library's viewport gives its keys back. */
function freeScrollKeys(): void {
  const names = Object.keys(TUI_KEYBINDINGS).filter((name) => name.startsWith("tui.altScreen."))
  const free = Object.fromEntries(names.map((name) => [name, []]))
  const newLine = ["shift+enter", "ctrl+enter", "alt+enter", "ctrl+j"] as const
  setKeybindings(
    new KeybindingsManager(TUI_KEYBINDINGS, { ...free, "tui.input.newLine": [...newLine] }),
  )
}

/** Signals, a vanished terminal and faults end the screen in order. Gives what stops the watching. */
function watchEnds(end: (how: ScreenEnd) => void): () => void {
  const hangUp = () => end({ exitCode: SIGNAL_EXITS.SIGHUP })
  const fault = (error: unknown) =>
    isTerminalGone(error) ? hangUp() : end({ exitCode: EXIT_FAULT, fault: error })
  const listeners: [string, (value: unknown) => void][] = [
    ...Object.entries(SIGNAL_EXITS).map(([signal, exitCode]): [string, () => void] => [
      signal,
      () => end({ exitCode }),
    ]),
    ["uncaughtException", fault],
    ["unhandledRejection", fault],
  ]
  for (const [name, listener] of listeners) process.on(name, listener)
  // These stay: the last words to a terminal that is gone must not become a fault after the end.
  process.stdin.on("end", hangUp).on("error", fault)
  process.stdout.on("error", fault)
  return () => {
    for (const [name, listener] of listeners) process.off(name, listener)
  }
}

/** What reading and writing say when the window was closed. */
const isTerminalGone = (error: unknown): boolean =>
  error instanceof Error && "code" in error && (error.code === "EIO" || error.code === "EPIPE")

/** Ctrl+Z: hands the terminal to the shell and takes it again when the shell says so. */
function suspend(tui: TUI): void {
  if (process.platform === "win32") return
  tui.stop({ preserveScreen: true })
  process.once("SIGCONT", () => {
    tui.start()
    tui.requestRender(true)
  })
  process.kill(0, "SIGTSTP")
}
