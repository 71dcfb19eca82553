/** The terminal client from its sources on an emulated terminal, against a real kernel with the mock. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Emulated, emulatedTerminal } from "../../support/emulated-terminal.ts"
import { type PuppetModel, puppetModel } from "../../support/puppet-model.ts"
import { CONFIG, createPlace, type Served, serve } from "../../support/served.ts"

export const MAIN = join(import.meta.dir, "../../../src/main.ts")

export const KEY = {
  enter: "\r",
  escape: "\x1b",
  tab: "\t",
  shiftTab: "\x1b[Z",
  up: "\x1b[A",
  down: "\x1b[B",
  pageUp: "\x1b[5~",
  pageDown: "\x1b[6~",
  ctrlHome: "\x1b[1;5H",
  ctrlEnd: "\x1b[1;5F",
  altEnter: "\x1b\r",
  /** As terminals with the keyboard protocol of kitty send it. */
  shiftEnter: "\x1b[13;2u",
  ctrl: (letter: string) => String.fromCharCode(letter.charCodeAt(0) & 31),
} as const

export interface Opening {
  columns?: number
  rows?: number
  args?: string[]
  env?: Record<string, string>
  /** A home that stays, such as that of an earlier client. */
  home?: string
}

export interface Stage {
  readonly kernel: Served
  model: PuppetModel
  /** Starts it again, where it was, on its data. */
  restart(): Promise<void>
  /** Starts a client and waits until it is drawn. */
  open(opening?: Opening): Promise<Emulated>
  /** Starts a client and waits for nothing. */
  start(opening?: Opening): Emulated
  home(): string
  dispose(): Promise<void>
}

export interface StageOptions {
  /** Where the kernel listens; any free port when absent. */
  listen?: string
  /** What is run in place of the sources, such as a built executable. */
  program?: string[]
  /** Sections that stand in place of those of the kernel's configuration here. */
  config?: object
  /** Of the kernel. */
  env?: Record<string, string>
}

/** A port that nothing listens on: for a kernel that must come back where it was. */
export async function freeAddress(): Promise<string> {
  const free = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() })
  const { port } = free
  await free.stop(true)
  return `127.0.0.1:${port}`
}

/** One kernel for all tests of a file, on a model pulled by hand; what clients leave behind is removed. */
export async function createStage(options: StageOptions = {}): Promise<Stage> {
  const { listen = CONFIG.server.listen, program = [process.execPath, MAIN], env = {} } = options
  const place = createPlace()
  const model = puppetModel()
  const prices = { price_in: 2, price_out: 10 }
  place.write("config.json", {
    server: { listen },
    db: CONFIG.db,
    llm: {
      ...{ provider: "openai", base_url: model.url, api_key: "unused" },
      model: { general: "puppet" },
      models: [
        { name: "puppet", context_window: 200_000, ...prices },
        { name: "other", context_window: 8_000 },
      ],
    },
    log: { level: "error" },
    tools: { dir: "tools.d" },
    ...options.config,
  })
  place.write(
    "tools.d/list_files.toml",
    'name = "list_files"\ndescription = "Lists."\ncommand = ["printf", "%s\\n", "notes.md", "plan.md", "пример.txt"]\n',
  )
  const begin = () => serve({ place, program, args: ["serve", "--config", "config.json"], env })
  let kernel = await begin()
  const homes: string[] = []
  const clients: Emulated[] = []
  const home = (): string => {
    homes.push(mkdtempSync(join(tmpdir(), "eva-screen-")))
    return homes.at(-1)!
  }
  const start = (opening: Opening = {}): Emulated => {
    const dir = opening.home ?? home()
    const client = emulatedTerminal({
      command: [...program, "chat", "--url", kernel.url, ...(opening.args ?? [])],
      cwd: dir,
      env: { ...clientEnvironment(dir), ...opening.env },
      ...(opening.columns !== undefined && { columns: opening.columns }),
      ...(opening.rows !== undefined && { rows: opening.rows }),
    })
    clients.push(client)
    return client
  }
  return {
    get kernel() {
      return kernel
    },
    model,
    restart: async () => {
      kernel = await begin()
    },
    start,
    home,
    open: async (opening) => {
      const client = start(opening)
      await client.sees(/───\n.*\n─+/)
      // The input takes keys before the kernel has answered.
      await client.loses("connecting …")
      return client
    },
    dispose: async () => {
      for (const client of clients) client.dispose()
      await kernel.kill()
      await model.stop()
      place.remove()
      for (const dir of homes) rmSync(dir, { recursive: true, force: true })
    },
  }
}

export const clientEnvironment = (home: string): Record<string, string> => ({
  PATH: process.env.PATH ?? "",
  HOME: home,
  BUN_RUNTIME_TRANSPILER_CACHE_PATH: "0",
})

/** The rows of the conversation: what stands above the input. */
export const conversation = (client: Emulated): string =>
  client
    .screen()
    .split(/\n─{10,}\n/)[0]!
    .trim()

/** The spinner turns, ports and days differ: what stays. */
export const steady = (screen: string): string =>
  screen
    .replace(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/g, "*")
    .replace(/http:\/\/127\.0\.0\.1:\d+/g, "URL")
    .replace(/\d{4}-\d\d-\d\d/g, "YYYY-MM-DD")

/** How often a sequence was written. */
export const timesIn = (raw: string, sequence: string): number => raw.split(sequence).length - 1
