/** Sessions against real kernels: in this process, as a child that can be killed, behind a wire that stalls. */
import { rmSync } from "node:fs"
import { join } from "node:path"
import { createApi } from "../../../src/api/app.ts"
import { createSession } from "../../../src/cli/chat/create-session.ts"
import { createKernelClient } from "../../../src/cli/chat/kernel-client.ts"
import type { Session, SessionState } from "../../../src/cli/chat/session.ts"
import { systemClock } from "../../../src/lib/clock.ts"
import { uuidV4 } from "../../../src/lib/id.ts"
import type { Gate } from "../../../src/llm/mock-gate.ts"
import type { Item } from "../../../src/schema/item.ts"
import {
  type TestKernel,
  type TestKernelOptions,
  tempFolder,
  testKernel,
} from "../../support/kernel.ts"
import { PATIENCE_MS } from "../../support/patience.ts"

const MAIN = join(import.meta.dir, "../../../src/main.ts")
const HEARTBEAT_MS = 50

export interface Served {
  kernel: TestKernel
  url: string
  port: number
  /** Ends kernel and port; the folder stays. */
  stop(): Promise<void>
}

/** A kernel of this process behind a port; with `port` it takes the place of an earlier one. */
export async function served(options: TestKernelOptions & { port?: number } = {}): Promise<Served> {
  const { port = 0, ...rest } = options
  const kernel = await testKernel(rest)
  const streams = { heartbeatMs: HEARTBEAT_MS }
  const server = createApi({ ...kernel.api, streams }).listen({ hostname: "127.0.0.1", port })
  return {
    ...{ kernel, url: server.url, port: server.port },
    stop: async () => {
      await server.stop()
      await kernel.close(0)
    },
  }
}

/** A kernel in a process of its own, on a mock. */
export async function spawnKernel(folder: string, port: number): Promise<Bun.Subprocess> {
  const child = Bun.spawn([process.execPath, MAIN, "serve"], {
    cwd: folder,
    env: kernelEnvironment(folder, port),
    stdout: "ignore",
    stderr: "ignore",
  })
  await eventually(async () => (await healthOf(`http://127.0.0.1:${port}`)) === 200)
  return child
}

export const kernelEnvironment = (folder: string, port: number): Record<string, string> => ({
  PATH: process.env.PATH!,
  HOME: folder,
  XDG_DATA_HOME: join(folder, "data"),
  XDG_CONFIG_HOME: join(folder, "config"),
  XDG_STATE_HOME: join(folder, "state"),
  EVA_LLM__PROVIDER: "mock",
  EVA_SERVER__LISTEN: `127.0.0.1:${port}`,
})

const healthOf = (url: string): Promise<number> =>
  fetch(`${url}/health`).then(
    ({ status }) => status,
    () => 0,
  )

/** A port that nobody listens on right now. */
export function freePort(): number {
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() })
  const { port } = server
  void server.stop(true)
  return port!
}

export interface Wire {
  url: string
  /**
   * Everything in both directions stays where it is; connections stay open. Settles when a client has sent
   * something that will not arrive.
   */
  freeze(): Promise<void>
  thaw(): void
  close(): void
}

/** A TCP proxy that can stop to pass anything on, as a dead network does. */
export function wireTo(port: number): Wire {
  type Peer = Bun.Socket<{ other: Promise<Bun.Socket> }>
  let frozen = false
  let stuck = Promise.withResolvers<void>()
  const pass = (socket: Peer, bytes: Uint8Array) => {
    if (frozen) stuck.resolve()
    const copy = new Uint8Array(bytes)
    void socket.data.other.then((other) => frozen || other.write(copy))
  }
  const open = async (near: Peer): Promise<Bun.Socket> =>
    Bun.connect({
      hostname: "127.0.0.1",
      port,
      socket: {
        data: (_far, bytes) => void (frozen || near.write(bytes)),
        close: () => void near.end(),
        error: () => void near.end(),
      },
    })
  const server = Bun.listen<{ other: Promise<Bun.Socket> }>({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open: (near) => {
        near.data = { other: open(near) }
      },
      data: pass,
      close: (near) => void near.data.other.then((far) => far.end()),
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    freeze: () => {
      frozen = true
      stuck = Promise.withResolvers<void>()
      return stuck.promise
    },
    thaw: () => {
      frozen = false
    },
    close: () => server.stop(true),
  }
}

export interface SessionAt {
  chatId?: string
  token?: string
  silenceMs?: number
  timeoutMs?: number
}

export function sessionAt(url: string, options: SessionAt = {}): Promise<Session> {
  const { chatId, token, silenceMs, timeoutMs } = options
  const address = () => ({ url, token })
  return createSession({
    ...{ address, chatId, silenceMs, clock: systemClock, newKey: uuidV4, retryMs: [20, 50, 100] },
    client: createKernelClient({ address, ...(timeoutMs !== undefined && { timeoutMs }) }),
  })
}

/** Waits for the session to look so; each change is looked at. */
export async function until(
  session: Session,
  holds: (state: SessionState) => boolean,
): Promise<SessionState> {
  const { promise, resolve, reject } = Promise.withResolvers<SessionState>()
  const look = () => {
    const state = session.state()
    if (holds(state)) resolve(state)
  }
  const leave = session.subscribe(look)
  const timer = setTimeout(() => {
    const { items, turns, connection, notice } = session.state()
    const seen = JSON.stringify({ lines: linesOf(items), turns, connection, notice }, null, 1)
    reject(new Error(`never so: ${holds}\n${seen}`))
  }, PATIENCE_MS)
  look()
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    leave()
  }
}

export async function eventually(holds: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + PATIENCE_MS
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`never so: ${holds}`)
    await Bun.sleep(10)
  }
}

/** What a person reads: one line an item. */
export const linesOf = (items: readonly Item[]): string[] => items.map(lineOf)

function lineOf(item: Item): string {
  switch (item.kind) {
    case "user_message":
      return `> ${item.text.split("\n", 1)[0]}`
    case "agent_message":
      return item.text
    case "thinking":
      return `(${item.text})`
    case "tool_call":
      return `${item.name} ${item.status}`
    default:
      return item.kind
  }
}

/** An end for everything that a test opened, in the order of opening, last first. */
export function cleanUp() {
  const ends: (() => unknown)[] = []
  return {
    add: <T>(thing: T, end: (thing: T) => unknown): T => {
      ends.push(() => end(thing))
      return thing
    },
    folder: (): string => {
      const folder = tempFolder()
      ends.push(() => rmSync(folder, { recursive: true, force: true }))
      return folder
    },
    run: async () => {
      for (const end of ends.splice(0).reverse()) await end()
    },
  }
}

/** Lets the mock say this many pieces of text, and holds what comes after them. */
export async function passTexts(gate: Gate, count: number): Promise<void> {
  for (let passed = 0; passed < count; ) {
    const { event, release } = await gate.next()
    if (event.type === "text") passed++
    release()
  }
}

/** Looks at every picture and keeps those in which a line stood twice. All lines of the test must differ. */
export function doublesIn(session: Session): string[][] {
  const doubles: string[][] = []
  session.subscribe(() => {
    const lines = linesOf(session.state().items)
    if (new Set(lines).size < lines.length) doubles.push(lines)
  })
  return doubles
}

export interface Ran {
  code: number
  out: string
  err: string
}

export interface RunOptions {
  /** Where its home is. */
  folder: string
  args: readonly string[]
  /** What is piped in; absent: nothing is. */
  input?: string
  environment?: Record<string, string>
}

/** `eva-kernel chat` as a child process. Nothing is piped in and nothing is a terminal. */
export function spawnChat(options: RunOptions) {
  const { folder, args, input, environment } = options
  return Bun.spawn([process.execPath, MAIN, "chat", ...args], {
    cwd: folder,
    env: { ...kernelEnvironment(folder, 0), ...environment },
    stdin: input === undefined ? "ignore" : new TextEncoder().encode(input),
    stdout: "pipe",
    stderr: "pipe",
  })
}

export async function runChat(options: RunOptions): Promise<Ran> {
  const child = spawnChat(options)
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { code, out, err }
}
