/** The program from its sources in a child process, with a home of its own. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PATIENCE_MS } from "../support/patience.ts"

export const MAIN = join(import.meta.dir, "../../src/main.ts")

export interface Home {
  dir: string
  /** Where `init` writes without --config. */
  config: string
  secrets: string
  /** What a child sees: nothing of the environment of whoever runs the tests. */
  environment: Record<string, string>
  [Symbol.dispose](): void
}

export function emptyHome(extra: Record<string, string> = {}): Home {
  const dir = mkdtempSync(join(tmpdir(), "eva-home-"))
  const folder = join(dir, "config", "eva-kernel")
  mkdirSync(join(dir, "work"))
  return {
    dir,
    config: join(folder, "config.yaml"),
    secrets: join(folder, "secrets.yaml"),
    environment: {
      PATH: process.env.PATH ?? "",
      HOME: dir,
      XDG_CONFIG_HOME: join(dir, "config"),
      XDG_DATA_HOME: join(dir, "data"),
      // Else Bun keeps what it transpiled in this home.
      BUN_RUNTIME_TRANSPILER_CACHE_PATH: "0",
      ...extra,
    },
    [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true }),
  }
}

export interface Ended {
  code: number
  out: string
  err: string
}

export async function runProgram(home: Home, args: string[], input = ""): Promise<Ended> {
  const child = Bun.spawn([process.execPath, MAIN, ...args], {
    cwd: join(home.dir, "work"),
    env: home.environment,
    stdin: new Blob([input]),
    stdout: "pipe",
    stderr: "pipe",
  })
  const [out, err, code] = await Promise.all([
    child.stdout.text(),
    child.stderr.text(),
    child.exited,
  ])
  return { code, out, err }
}

export interface TerminalRun {
  /** Waits until the screen has shown this after what was waited for before. */
  sees(text: string): Promise<void>
  types(keys: string): void
  /** Everything that was shown, without escape sequences. */
  shown(): string
  exited: Promise<number>
}

/** The program on a terminal of its own. */
export function runOnTerminal(home: Home, args: string[]): TerminalRun {
  let raw = ""
  let from = 0
  let waiting: { text: string; resolve: () => void } | undefined
  const decoder = new TextDecoder()
  const check = (): void => {
    if (!waiting) return
    const at = plain(raw).indexOf(waiting.text, from)
    if (at < 0) return
    from = at + waiting.text.length
    waiting.resolve()
    waiting = undefined
  }
  const child = Bun.spawn([process.execPath, MAIN, ...args], {
    cwd: join(home.dir, "work"),
    env: { ...home.environment, TERM: "xterm-256color" },
    terminal: {
      cols: 100,
      rows: 40,
      data: (_terminal, bytes) => {
        raw += decoder.decode(bytes, { stream: true })
        check()
      },
    },
  })
  return {
    shown: () => plain(raw),
    types: (keys) => void child.terminal?.write(keys),
    sees: async (text) => {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const timer = setTimeout(() => {
        child.kill("SIGKILL")
        reject(new Error(`never seen: ${text}\n${plain(raw)}`))
      }, PATIENCE_MS)
      waiting = { text, resolve }
      check()
      await promise
      clearTimeout(timer)
    },
    exited: child.exited,
  }
}

const plain = (raw: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
  raw.replaceAll(/\u001b\[[0-9;?]*[A-Za-z]/g, "").replaceAll("\r", "")
