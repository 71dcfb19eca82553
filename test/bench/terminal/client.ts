/** The built client on a pseudo-terminal with an emulator behind it; ended with the block that holds it. */
import { type Emulated, emulatedTerminal } from "../../support/emulated-terminal.ts"
import { BINARY } from "../kernel-process.ts"

export interface Client extends AsyncDisposable {
  terminal: Emulated
  /** `performance.now()` before the process was made. */
  startedMs: number
}

export function startClient(folder: string, url: string): Client {
  const startedMs = performance.now()
  const terminal = emulatedTerminal({
    command: [BINARY, "chat", "--new", "--url", url],
    cwd: folder,
    env: { PATH: process.env.PATH ?? "", HOME: folder },
    ...{ columns: 100, rows: 30 },
  })
  return {
    ...{ terminal, startedMs },
    [Symbol.asyncDispose]: async () => {
      terminal.dispose()
      await terminal.exited
    },
  }
}

/** The empty chat is drawn: its words and both lines of the input. */
export const seesFirstPaint = (terminal: Emulated): Promise<void> =>
  terminal.sees(/Type a message[\s\S]*\n─{10,}\n.*\n─{10,}\n/)
