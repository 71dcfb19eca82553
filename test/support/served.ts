/** `eva-kernel` as a process of its own: started in a folder of its own, spoken to over HTTP, ended. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { deferred, settledWithin } from "../../src/lib/async.ts"
import { isObject, parseJson } from "../../src/lib/json.ts"
import { PATIENCE_MS } from "./patience.ts"

const ROOT = join(import.meta.dir, "../..")
const FROM_SOURCES = [process.execPath, join(ROOT, "src/main.ts")]

export interface Place {
  dir: string
  path(name: string): string
  /** Writes a file of this folder; an object is written as JSON. Its path. */
  write(name: string, content: string | object): string
  remove(): void
}

export function createPlace(): Place {
  const dir = mkdtempSync(join(tmpdir(), "eva-served-"))
  const path = (name: string) => join(dir, name)
  return {
    dir,
    path,
    write: (name, content) => {
      mkdirSync(dirname(path(name)), { recursive: true })
      writeFileSync(path(name), typeof content === "string" ? content : JSON.stringify(content))
      return path(name)
    },
    remove: () => rmSync(dir, { recursive: true, force: true }),
  }
}

/** The smallest configuration: any free port, the mock, a database `eva.db` beside the file. */
export const CONFIG = {
  server: { listen: "127.0.0.1:0" },
  db: { path: "eva.db" },
  llm: { provider: "mock", model: { general: "mock" }, models: [{ name: "mock" }] },
}

export interface RunOptions {
  place: Place
  args?: string[]
  env?: Record<string, string>
  /** What is run in place of the sources, such as a built executable. */
  program?: string[]
}

/** Sees nothing of this machine's settings: no key, no configuration, no home. */
function spawn({ place, args = [], env, program = FROM_SOURCES }: RunOptions) {
  return Bun.spawn([...program, ...args], {
    cwd: place.dir,
    env: {
      PATH: process.env.PATH ?? "",
      HOME: place.dir,
      // The home is a new one each time: without this the sources would be cached in it, for nobody.
      BUN_RUNTIME_TRANSPILER_CACHE_PATH: "0",
      ...env,
    },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  })
}

/** Runs it to its end: for starts that must fail. */
export async function runProgram(
  options: RunOptions,
): Promise<{ code: number; out: string; err: string }> {
  const child = spawn(options)
  const timer = setTimeout(() => child.kill("SIGKILL"), PATIENCE_MS)
  const [out, err, code] = await Promise.all([
    child.stdout.text(),
    child.stderr.text(),
    child.exited,
  ])
  clearTimeout(timer)
  return { code, out, err }
}

export interface SentEvent {
  type: string
  [field: string]: unknown
}

interface Sent {
  body?: unknown
  headers?: Record<string, string>
}

export interface Reply {
  status: number
  headers: Headers
  json: Record<string, unknown>
}

export type Served = Awaited<ReturnType<typeof serve>>

/** Starts a kernel and waits until it says where it listens. Throws with its words when it ends before. */
export async function serve(options: RunOptions) {
  const child = spawn(options)
  const said = { out: "", err: "" }
  const waiters = new Set<() => void>()
  const listen = async (stream: ReadableStream<Uint8Array>, name: "out" | "err") => {
    const decoder = new TextDecoder()
    for await (const bytes of stream) {
      said[name] += decoder.decode(bytes, { stream: true })
      for (const wake of waiters) wake()
    }
  }
  const over = Promise.all([listen(child.stdout, "out"), listen(child.stderr, "err"), child.exited])

  /** Waits until the log or the greeting has said something; throws when the process ends without. */
  const untilSaid = async (pattern: RegExp): Promise<RegExpExecArray> => {
    const { promise, resolve } = deferred<RegExpExecArray | undefined>()
    const look = () => {
      const found = pattern.exec(said.out + said.err)
      if (found) resolve(found)
    }
    waiters.add(look)
    look()
    void over.then(() => resolve(undefined))
    const timer = setTimeout(() => resolve(undefined), PATIENCE_MS)
    const found = await promise
    clearTimeout(timer)
    waiters.delete(look)
    if (found) return found
    child.kill("SIGKILL")
    throw new Error(`the kernel never said ${pattern}, but:\n${said.out}${said.err}`)
  }

  const url = (await untilSaid(/listening on (http:\/\/\S+:\d+)/))[1]!
  const request = (method: string, path: string, sent: Sent) =>
    fetch(url + path, {
      method,
      headers: { "content-type": "application/json", ...sent.headers },
      ...(sent.body !== undefined && { body: JSON.stringify(sent.body) }),
    })
  const call = async (method: string, path: string, sent: Sent = {}): Promise<Reply> => {
    const reply = await request(method, path, sent)
    const json = parseJson(await reply.text())
    return { status: reply.status, headers: reply.headers, json: isObject(json) ? json : {} }
  }

  return {
    url,
    pid: child.pid,
    out: () => said.out,
    err: () => said.err,
    untilSaid,
    call,
    newChat: async (title = ""): Promise<string> =>
      String((await call("POST", "/v1/chats", { body: { title } })).json.id),
    /** Sends and gives the events as they come; throws when the reply is no stream. */
    send: async function* (chatId: string, body: object): AsyncGenerator<SentEvent> {
      const reply = await request("POST", `/v1/chats/${chatId}/messages`, { body })
      if (!reply.ok) throw new Error(`${reply.status}: ${await reply.text()}`)
      yield* eventsOf(reply)
    },
    /** Every event of one turn. */
    turn: async function (chatId: string, text: string): Promise<SentEvent[]> {
      return Array.fromAsync(this.send(chatId, { text }))
    },
    messages: async (chatId: string): Promise<Record<string, unknown>[]> =>
      (await call("GET", `/v1/chats/${chatId}/messages?limit=500`)).json.messages as Record<
        string,
        unknown
      >[],
    /** Sends a signal; the exit code when the process has ended. */
    signal: (name: NodeJS.Signals) => child.kill(name),
    exited: async (): Promise<number> => {
      if (await settledWithin(over, PATIENCE_MS)) return child.exited
      child.kill("SIGKILL")
      throw new Error(`the kernel did not end; it said:\n${said.out}${said.err}`)
    },
    /** Ends it at once, as a power cut would. */
    kill: async (): Promise<void> => {
      child.kill("SIGKILL")
      await over
    },
  }
}

async function* eventsOf(reply: Response): AsyncGenerator<SentEvent> {
  const decoder = new TextDecoder()
  let text = ""
  for await (const bytes of reply.body!) {
    text += decoder.decode(bytes, { stream: true })
    const frames = text.split("\n\n")
    text = frames.pop()!
    for (const frame of frames) {
      const [, json] = /^data: (.*)$/m.exec(frame) ?? []
      if (json !== undefined) yield parseJson(json) as SentEvent
    }
  }
}
