/**
 * A program on a real pseudo-terminal, seen through a terminal emulator: tests type keys and read the rows
 * that a person would see.
 */
import { Terminal } from "@xterm/headless"
import { PATIENCE_MS } from "./patience.ts"

export interface EmulatedOptions {
  command: string[]
  cwd: string
  env: Record<string, string>
  columns?: number
  rows?: number
}

export interface Emulated {
  readonly pid: number
  readonly exited: Promise<number>
  types(keys: string): void
  /** As a terminal sends what is pasted. */
  pastes(text: string): void
  resize(columns: number, rows: number): void
  signal(name: NodeJS.Signals): void
  /** Takes the terminal away, as a closed window does. */
  hangUp(): void
  /** The rows without blanks at their ends; empty rows at the foot are left out. */
  screen(): string
  /** Waits until the screen holds the text. Throws with the screen when it never does. */
  sees(text: string | RegExp): Promise<void>
  /** Waits until the screen does not hold the text any more. */
  loses(text: string | RegExp): Promise<void>
  /** The style of the first place where the text stands; undefined when it stands nowhere. */
  styleOf(text: string): CellStyle | undefined
  /** Modes that a program must give back when it ends. */
  modes(): Modes
  /** Everything that was written, escape sequences included. */
  raw(): string
  dispose(): void
}

export interface CellStyle {
  /** Number of the palette's colour; undefined: the terminal's own. */
  colour: number | undefined
  bold: boolean
  dim: boolean
  italic: boolean
  inverse: boolean
}

export interface Modes {
  alternateScreen: boolean
  bracketedPaste: boolean
  mouse: string
  cursorHidden: boolean
}

export function emulatedTerminal(options: EmulatedOptions): Emulated {
  const { command, cwd, env, columns = 80, rows = 24 } = options
  const emulator = new Terminal({ cols: columns, rows, allowProposedApi: true, scrollback: 500 })
  const decoder = new TextDecoder()
  const watchers = new Set<() => void>()
  let raw = ""
  const drained = Promise.withResolvers<void>()
  const child = Bun.spawn(command, {
    cwd,
    env: { TERM: "xterm-256color", ...env },
    terminal: {
      cols: columns,
      rows,
      data: (_terminal, bytes) => {
        raw += decoder.decode(bytes, { stream: true })
        emulator.write(Uint8Array.from(bytes), () => {
          for (const look of watchers) look()
        })
      },
      exit: () => emulator.write("", drained.resolve),
    },
  })
  const terminal = child.terminal!
  // The emulator answers what the program asks the terminal.
  emulator.onData((reply) => void terminal.write(reply))

  const screen = () => rowsOf(emulator).join("\n").trimEnd()
  const until = async (isSo: () => boolean, what: string): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    // A frame that is still being drawn is not what a person sees.
    const look = () => void (!emulator.modes.synchronizedOutputMode && isSo() && resolve())
    const fail = (why: string) => reject(new Error(`${why} ${what}:\n${screen()}`))
    const timer = setTimeout(() => fail("in time it never"), PATIENCE_MS)
    watchers.add(look)
    look()
    void child.exited.then(() => setTimeout(() => isSo() || fail("it ended and never"), 100))
    try {
      await promise
    } finally {
      clearTimeout(timer)
      watchers.delete(look)
    }
  }
  const holds = (text: string | RegExp) =>
    typeof text === "string" ? screen().includes(text) : text.test(screen())
  return {
    pid: child.pid,
    // Its last words are on the screen by then.
    exited: Promise.all([child.exited, drained.promise]).then(([code]) => code),
    types: (keys) => void terminal.write(keys),
    pastes: (text) => void terminal.write(`\x1b[200~${text}\x1b[201~`),
    resize: (cols, lines) => {
      emulator.resize(cols, lines)
      terminal.resize(cols, lines)
    },
    signal: (name) => child.kill(name),
    hangUp: () => terminal.close(),
    screen,
    sees: (text) => until(() => holds(text), `showed ${text}`),
    loses: (text) => until(() => !holds(text), `lost ${text}`),
    styleOf: (text) => styleOf(emulator, text),
    modes: () => ({
      alternateScreen: emulator.buffer.active.type === "alternate",
      bracketedPaste: emulator.modes.bracketedPasteMode,
      mouse: emulator.modes.mouseTrackingMode,
      cursorHidden: raw.lastIndexOf("\x1b[?25l") > raw.lastIndexOf("\x1b[?25h"),
    }),
    raw: () => raw,
    dispose: () => {
      if (child.exitCode === null) child.kill("SIGKILL")
      emulator.dispose()
    },
  }
}

function rowsOf(emulator: Terminal): string[] {
  const { active } = emulator.buffer
  return Array.from({ length: emulator.rows }, (_, row) =>
    (active.getLine(active.viewportY + row)?.translateToString(true) ?? "").trimEnd(),
  )
}

function styleOf(emulator: Terminal, text: string): CellStyle | undefined {
  const { active } = emulator.buffer
  for (let row = 0; row < emulator.rows; row++) {
    const line = active.getLine(active.viewportY + row)
    const column = line?.translateToString().indexOf(text) ?? -1
    const cell = column < 0 ? undefined : line?.getCell(column)
    if (cell)
      return {
        colour: cell.isFgDefault() ? undefined : cell.getFgColor(),
        bold: cell.isBold() !== 0,
        dim: cell.isDim() !== 0,
        italic: cell.isItalic() !== 0,
        inverse: cell.isInverse() !== 0,
      }
  }
  return undefined
}
