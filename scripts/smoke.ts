/**
 * Tries the built executable the way a stranger would: alone, copied into an empty folder with an empty
 * home, on a free port, answering from the mock provider. `bun run build` comes before `bun run smoke`.
 */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import packageJson from "../package.json"

const ROOT = join(import.meta.dir, "..")
const BUILT = join(ROOT, "dist/eva-kernel")
const START_MAX_MS = 20_000
const EXIT_MAX_MS = 30_000

type Child = Bun.Subprocess<"ignore", "pipe", "pipe">

interface Kernel {
  child: Child
  url: string
  startedInMs: number
}

/** The empty folder, and everything that was started in it. */
interface Place {
  binary: string
  cwd: string
  data: string
  env: Record<string, string>
  children: Child[]
}

function must(condition: unknown, complaint: string): asserts condition {
  if (!condition) throw new Error(complaint)
}

function preparePlace(): Place {
  const folder = mkdtempSync(join(tmpdir(), "eva-smoke-"))
  const [cwd, home] = [join(folder, "cwd"), join(folder, "home")]
  mkdirSync(cwd)
  mkdirSync(home)
  copyFileSync(BUILT, join(folder, "eva-kernel"))
  // Lies here to be ignored: a folder must not steer the program that is started in it.
  writeFileSync(join(cwd, ".env"), "EVA_DB__PATH=planted.db\n")
  writeFileSync(join(cwd, "bunfig.toml"), 'preload = ["./preload.ts"]\n')
  writeFileSync(join(cwd, "preload.ts"), 'await Bun.write("preloaded", "")\n')
  return {
    binary: join(folder, "eva-kernel"),
    cwd,
    data: join(home, "data", "eva-kernel"),
    env: {
      HOME: home,
      XDG_DATA_HOME: join(home, "data"),
      XDG_CONFIG_HOME: join(home, "config"),
      EVA_SERVER__LISTEN: "127.0.0.1:0",
      EVA_LLM__PROVIDER: "mock",
    },
    children: [],
  }
}

function start(place: Place, args: string[]): Child {
  const { binary, cwd, env } = place
  const child = Bun.spawn([binary, ...args], {
    cwd,
    env,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  })
  place.children.push(child)
  return child
}

async function run(place: Place, ...args: string[]): Promise<{ code: number; text: string }> {
  const child = start(place, args)
  const texts = Promise.all([child.stdout.text(), child.stderr.text()])
  const code = await inTime(child.exited, EXIT_MAX_MS, `eva-kernel ${args.join(" ")} did not end`)
  return { code, text: (await texts).join("") }
}

async function serve(place: Place): Promise<Kernel> {
  const startedMs = performance.now()
  const child = start(place, [])
  const url = await inTime(
    addressOf(child),
    START_MAX_MS,
    "the kernel did not say where it listens",
  )
  return { child, url, startedInMs: performance.now() - startedMs }
}

/** Reads both outputs to their end, so that the kernel never blocks on a full pipe. */
function addressOf(child: Child): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  let seen = ""
  const read = async (stream: ReadableStream<Uint8Array>): Promise<void> => {
    const decoder = new TextDecoder()
    for await (const bytes of stream) {
      seen += decoder.decode(bytes, { stream: true })
      const url = /listening on (http:\/\/\S+:\d+)/.exec(seen)?.[1]
      if (url) resolve(url)
    }
  }
  void Promise.all([read(child.stdout), read(child.stderr), child.exited]).then(([, , code]) =>
    reject(new Error(`the kernel ended with code ${code}:\n${seen}`)),
  )
  return promise
}

async function inTime<T>(work: Promise<T>, limitMs: number, complaint: string): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`${complaint} in ${limitMs} ms`)), limitMs)
  try {
    return await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
  }
}

async function get(kernel: Kernel, path: string): Promise<string> {
  const response = await fetch(new URL(path, kernel.url))
  const text = await response.text()
  must(response.ok, `GET ${path} answered ${response.status}: ${text.slice(0, 300)}`)
  must(text.length > 0, `GET ${path} answered nothing`)
  return text
}

async function post(kernel: Kernel, path: string, body: unknown): Promise<Response> {
  const response = await fetch(new URL(path, kernel.url), {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  })
  if (response.ok) return response
  const text = await response.text()
  throw new Error(`POST ${path} answered ${response.status}: ${text.slice(0, 300)}`)
}

/** The `type` of every event of a stream, in order. */
const eventTypes = (stream: string): string[] =>
  [...stream.matchAll(/^data: (.+)$/gm)].map(([, json]) => String(JSON.parse(json!).type))

async function checkWords(place: Place): Promise<void> {
  const version = await run(place, "--version")
  must(version.code === 0, `--version ended with ${version.code}: ${version.text}`)
  must(
    new RegExp(`^eva-kernel ${packageJson.version} \\(\\w+\\+?\\)\\n$`).test(version.text),
    `--version said ${version.text}`,
  )
  const help = await run(place, "--help")
  must(help.code === 0 && help.text.includes("Usage:"), `--help said ${help.text}`)
  const typo = await run(place, "sevre")
  must(typo.code === 2 && typo.text.includes("serve"), `a typo was answered by ${typo.text}`)
}

async function checkPaths(): Promise<void> {
  const bytes = readFileSync(BUILT)
  for (const folder of ["src", "node_modules"])
    must(!bytes.includes(join(ROOT, folder)), `the executable names ${join(ROOT, folder)}`)
}

async function checkPages(kernel: Kernel): Promise<void> {
  const health = JSON.parse(await get(kernel, "/health"))
  must(health.status === "ok", `/health said ${JSON.stringify(health)}`)
  must(
    health.version === packageJson.version && health.commit,
    "/health names no version or commit",
  )
  const document = JSON.parse(await get(kernel, "/v1/openapi.json"))
  must(document.paths?.["/v1/chats"], "the OpenAPI document lacks /v1/chats")
  const page = await get(kernel, "/apidocs")
  const assets = [...page.matchAll(/(?:src|href)="([^"#]+)"/g)].map(([, path]) => path!)
  must(assets.length > 0, "/apidocs names no assets")
  for (const asset of assets) {
    const url = new URL(asset, new URL("/apidocs", kernel.url))
    must(url.origin === kernel.url, `/apidocs loads ${asset} from elsewhere`)
    await get(kernel, url.pathname + url.search)
  }
}

async function checkTalk(kernel: Kernel): Promise<string> {
  const chat = (await (await post(kernel, "/v1/chats", { title: "smoke" })).json()) as {
    id: string
  }
  const answer = await post(kernel, `/v1/chats/${chat.id}/messages`, { text: "Hello" })
  const types = eventTypes(await answer.text())
  must(types.includes("text_delta"), `the stream has no text: ${types.join(" ")}`)
  must(types.at(-1) === "done", `the stream ends with ${types.at(-1)}`)
  return chat.id
}

function checkPlanted(place: Place): void {
  must(!existsSync(join(place.cwd, "preloaded")), "bunfig.toml of the current folder was obeyed")
  must(!existsSync(join(place.cwd, "planted.db")), ".env of the current folder was obeyed")
  must(existsSync(join(place.data, "eva.db")), `there is no database in ${place.data}`)
}

async function checkSecond(place: Place): Promise<void> {
  const { code, text } = await run(place)
  must(code === 1 || code === 2, `a second kernel on the same database ended with code ${code}`)
  must(/in use by another eva-kernel/.test(text), `a second kernel said: ${text}`)
}

/** A turn that runs when the signal comes is finished and stored before the kernel goes. */
async function checkStop(place: Place, kernel: Kernel, chatId: string): Promise<void> {
  const answer = await post(kernel, `/v1/chats/${chatId}/messages`, { text: "One more thing" })
  kernel.child.kill("SIGTERM")
  const types = eventTypes(await answer.text())
  must(types.at(-1) === "done", `the stream of a draining kernel ends with ${types.at(-1)}`)
  const code = await inTime(kernel.child.exited, EXIT_MAX_MS, "SIGTERM did not end the kernel")
  must(code === 0, `SIGTERM ended the kernel with code ${code}`)
  const left = readdirSync(place.data).filter((name) => /-(?:wal|shm|journal)$/.test(name))
  must(left.length === 0, `a clean stop left ${left.join(", ")}`)
}

/** What was said is there after a restart. */
async function checkRestart(place: Place, chatId: string): Promise<void> {
  const kernel = await serve(place)
  const page = JSON.parse(await get(kernel, `/v1/chats/${chatId}/items`))
  const said = page.items.filter((item: { kind: string }) => item.kind === "user_message")
  must(said.length === 2, `after a restart there are ${said.length} messages of 2`)
  kernel.child.kill("SIGTERM")
  await inTime(kernel.child.exited, EXIT_MAX_MS, "SIGTERM did not end the restarted kernel")
}

/** The first hour of a stranger, in a home of its own: set up, then one question. */
async function checkFirstHour(place: Place): Promise<void> {
  const home = join(place.cwd, "../stranger")
  mkdirSync(home)
  const env = {
    HOME: home,
    XDG_CONFIG_HOME: join(home, "config"),
    XDG_DATA_HOME: join(home, "data"),
    EVA_LLM__PROVIDER: "mock",
  }
  const stranger = { ...place, env }
  const set = await run(stranger, "init", "--yes")
  must(set.code === 0, `init --yes ended with ${set.code}: ${set.text}`)
  must(existsSync(join(home, "config/eva-kernel/secrets.yaml")), "init wrote no secrets")
  const asked = await run(stranger, "chat", "--quiet", "-p", "hi")
  must(asked.code === 0 && asked.text === "hi\n", `chat -p ended with ${asked.code}: ${asked.text}`)
}

async function smoke(place: Place): Promise<void> {
  const step = async <T>(name: string, work: () => T | Promise<T>): Promise<T> => {
    try {
      const result = await work()
      process.stdout.write(`ok    ${name}\n`)
      return result
    } catch (error) {
      process.stdout.write(`FAIL  ${name}\n`)
      throw error
    }
  }
  await step("version, help, usage error", () => checkWords(place))
  await step("no paths of the build machine", checkPaths)
  const kernel = await step("serve without configuration", () => serve(place))
  await step("health, OpenAPI, Swagger UI", () => checkPages(kernel))
  const chatId = await step("a chat, a message, a stream that ends with done", () =>
    checkTalk(kernel),
  )
  await step(".env and bunfig.toml of the folder are not obeyed", () => checkPlanted(place))
  await step("a second kernel on the same database refuses", () => checkSecond(place))
  await step("SIGTERM drains, exits 0 and leaves one clean file", () =>
    checkStop(place, kernel, chatId),
  )
  await step("the chat is there after a restart", () => checkRestart(place, chatId))
  await step("init --yes in an empty home leads to an answered chat -p", () =>
    checkFirstHour(place),
  )
  process.stdout.write(`started in ${kernel.startedInMs.toFixed(0)} ms\n`)
}

if (!existsSync(BUILT)) {
  process.stderr.write("dist/eva-kernel is not built: run bun run build\n")
  process.exit(1)
}
const place = preparePlace()
try {
  await smoke(place)
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
} finally {
  for (const child of place.children) child.kill("SIGKILL")
  await Promise.all(place.children.map((child) => child.exited))
  rmSync(join(place.cwd, ".."), { recursive: true, force: true })
}
