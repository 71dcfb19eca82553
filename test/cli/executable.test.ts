/** The one file that `bun run build` makes, alone in a folder with a configuration. */
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import packageJson from "../../package.json"
import { SETUP_MS } from "../support/patience.ts"
import { CONFIG, createPlace, type Place, type Served, serve } from "../support/served.ts"

const ROOT = join(import.meta.dir, "../..")
const COMMIT = "0123456789ab"

let place: Place
let binary: string
let kernel: Served | undefined

beforeAll(async () => {
  place = createPlace()
  binary = place.path("eva-kernel")
  const build = Bun.spawn([process.execPath, "scripts/build.ts", "--outfile", binary], {
    cwd: ROOT,
    env: { ...process.env, EVA_COMMIT: COMMIT },
    stdout: "ignore",
    stderr: "inherit",
  })
  if ((await build.exited) !== 0) throw new Error("the executable could not be built")
}, SETUP_MS)
afterEach(async () => await kernel?.kill())
afterAll(() => place.remove())

async function start(config: object): Promise<Served> {
  place.write("config.json", config)
  // No program is within its reach.
  const options = { args: ["--config", "config.json"], env: { PATH: "" }, program: [binary] }
  kernel = await serve({ place, ...options })
  return kernel
}

test("BOOT-001: it needs nothing but a configuration, and all it knows is in one SQLite file", async () => {
  const served = await start(CONFIG)
  const chat = await served.newChat("All there is")
  expect((await served.turn(chat, "hello")).at(-1)).toMatchObject({ type: "done" })
  expect((await served.call("GET", "/v1/stats")).status).toBe(200)
  served.signal("SIGTERM")
  expect(await served.exited()).toBe(0)
  expect(readdirSync(place.dir).sort()).toEqual([
    ...["config.json", "eva-kernel", "eva.db", "eva.db.lock", "images"],
  ])
  expect(readdirSync(place.path("images"))).toEqual([])
})

test("BOOT-020: version and revision of the build are in /health and in the prompt", async () => {
  let system = ""
  using model = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request) => {
      const { messages } = (await request.json()) as { messages: { content: unknown }[] }
      system ||= JSON.stringify(messages[0]!.content)
      return new Response("no", { status: 400 })
    },
  })
  const llm = { provider: "openai", api_key: "k", base_url: `http://127.0.0.1:${model.port}/v1` }
  const served = await start({ ...CONFIG, llm: { ...CONFIG.llm, ...llm } })
  const { version } = packageJson
  const health = await served.call("GET", "/health")
  expect(health.json).toEqual({ status: "ok", version, commit: COMMIT })
  expect(health.headers.get("x-eva-version")).toBe(version)
  await served.turn(await served.newChat("t"), "hello")
  expect(system).toContain(`${version} (${COMMIT})`)
})

test.skipIf(!Bun.which("ldd"))("BOOT-022: it asks the system for no library of TLS", () => {
  const { stdout } = Bun.spawnSync(["ldd", binary])
  const libraries = stdout.toString()
  expect(libraries).toContain("libc")
  expect(libraries).not.toMatch(/ssl|crypto|tls|nss/i)
})

test.skipIf(!Bun.which("openssl"))("BOOT-022: it speaks TLS", async () => {
  const [key, cert] = [place.path("key.pem"), place.path("cert.pem")]
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
  const made = Bun.spawnSync(
    [
      "openssl",
      "req",
      "-x509",
      "-newkey",
      "rsa:2048",
      "-nodes",
      "-days",
      "1",
      "-keyout",
      key,
    ].concat(["-out", cert, ...subject]),
  )
  expect(made.exitCode).toBe(0)
  let asked = 0
  using model = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    tls: { key: Bun.file(key), cert: Bun.file(cert) },
    fetch: () => {
      asked++
      return new Response("no", { status: 400 })
    },
  })
  const base_url = `https://localhost:${model.port}/v1`
  place.write("config.json", {
    ...CONFIG,
    llm: { ...CONFIG.llm, provider: "openai", api_key: "k", base_url },
  })
  kernel = await serve({
    place,
    args: ["--config", "config.json"],
    env: { PATH: "", NODE_EXTRA_CA_CERTS: cert },
    program: [binary],
  })
  await kernel.turn(await kernel.newChat("t"), "hello")
  expect(asked).toBeGreaterThan(0)
})
