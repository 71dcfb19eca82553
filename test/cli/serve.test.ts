/** `eva-kernel serve` in a process of its own: what it starts with, and what stops it from starting. */
import { Database } from "bun:sqlite"
import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import packageJson from "../../package.json"
import { LOCAL_UPSTREAMS } from "../../src/config/default-upstreams.ts"
import { probeModelServer } from "../../src/config/probe.ts"
import {
  CONFIG,
  createPlace,
  type Place,
  type RunOptions,
  runProgram,
  type Served,
  serve,
} from "../support/served.ts"

let place: Place
let kernels: Served[]

beforeEach(() => {
  place = createPlace()
  kernels = []
})
afterEach(async () => {
  await Promise.all(kernels.map((kernel) => kernel.kill()))
  place.remove()
})

async function start(options: Partial<RunOptions> = {}): Promise<Served> {
  const kernel = await serve({ place, ...options })
  kernels.push(kernel)
  return kernel
}

const withConfig = (config: object = CONFIG): { args: string[] } => {
  place.write("config.json", config)
  return { args: ["--config", "config.json"] }
}

describe("a start", () => {
  const isModelServerHere = async (): Promise<boolean> => {
    const models = await Promise.all(
      LOCAL_UPSTREAMS.map(({ baseUrl }) => probeModelServer(baseUrl)),
    )
    return models.some((model) => model !== undefined)
  }

  test("without any configuration serves, says what it took and how to talk to it", async () => {
    // A model server on this machine would be taken in place of the mock; then the variable names it.
    const found = await isModelServerHere()
    const kernel = await start({
      env: { EVA_SERVER__LISTEN: "127.0.0.1:0", ...(found && { EVA_LLM__PROVIDER: "mock" }) },
    })
    const why = found
      ? "EVA_LLM__PROVIDER is set"
      : "no API key is set and no local model server answers"
    const database = place.path(".local/share/eva-kernel/eva.db")
    const json = '-H "content-type: application/json"'
    expect(kernel.out().split("\n")).toEqual([
      `eva-kernel is listening on ${kernel.url}`,
      `  provider  mock (${why})`,
      `  database  ${database}`,
      `  docs      ${kernel.url}/apidocs`,
      `  try       chat=$(curl -s -X POST ${kernel.url}/v1/chats ${json} -d '{}' | sed 's/.*"id":"\\([^"]*\\)".*/\\1/')`,
      `            curl -N ${kernel.url}/v1/chats/$chat/messages ${json} -d '{"text":"hello"}'`,
      "",
    ])
    expect(existsSync(database)).toBe(true)
  })

  test.skipIf(!Bun.which("curl") || !Bun.which("sed"))(
    "prints commands that can be pasted as they are",
    async () => {
      const kernel = await start(withConfig())
      const script = kernel.out().slice(kernel.out().indexOf("chat=$("))
      const shell = Bun.spawn(["sh", "-c", script], { stdout: "pipe", stderr: "pipe" })
      const [out, code] = await Promise.all([shell.stdout.text(), shell.exited])
      expect(code).toBe(0)
      expect(out).toContain('"type":"done"')
    },
  )

  test("BOOT-012: the mock needs no key, and /health answers", async () => {
    const kernel = await start(withConfig())
    expect(await kernel.call("GET", "/health")).toMatchObject({
      status: 200,
      json: { status: "ok", version: packageJson.version, commit: "dev" },
    })
    const events = await kernel.turn(await kernel.newChat(), "hello")
    expect(events.at(-1)).toMatchObject({ type: "done" })
  })

  test("BOOT-002: a missing database is made, and what is missing in one is added at every start", async () => {
    const config = withConfig({ ...CONFIG, db: { path: "deep/down/eva.db" } })
    const first = await start(config)
    const chat = await first.newChat("Kept")
    first.signal("SIGTERM")
    expect(await first.exited()).toBe(0)

    const second = await start(config)
    expect((await second.call("GET", `/v1/chats/${chat}`)).json.title).toBe("Kept")

    // Of schema 0: nothing is in it yet.
    place.write("eva.db", "")
    const third = await start(withConfig())
    expect((await third.call("GET", `/v1/chats/${await third.newChat("New")}`)).status).toBe(200)
  })

  test("the environment lies over the files", async () => {
    const kernel = await start({
      ...withConfig(),
      env: { EVA_DB__PATH: "other.db", EVA_SERVER__TOKEN: "secret-of-the-test" },
    })
    expect(existsSync(place.path("other.db"))).toBe(true)
    expect(existsSync(place.path("eva.db"))).toBe(false)
    expect((await kernel.call("GET", "/v1/chats")).status).toBe(401)
    const headers = { authorization: "Bearer secret-of-the-test" }
    expect((await kernel.call("GET", "/v1/chats", { headers })).status).toBe(200)
    expect(kernel.out() + kernel.err()).not.toContain("secret-of-the-test")
    expect(kernel.out()).toContain('-H "authorization: Bearer $EVA_TOKEN"')
  })

  test("beyond this machine is possible with a token, and then nothing goes without it", async () => {
    const kernel = await start(
      withConfig({ ...CONFIG, server: { listen: "0.0.0.0:0", token: "a-token" } }),
    )
    const port = new URL(kernel.url).port
    const ask = (headers = {}) => fetch(`http://127.0.0.1:${port}/v1/chats`, { headers })
    expect((await ask()).status).toBe(401)
    expect((await ask({ "x-eva-token": "a-token" })).status).toBe(200)
  })

  test("without a persona is a start like any other; with one its text reaches the model", async () => {
    const system: string[] = []
    using model = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: async (request) => {
        const body = (await request.json()) as { messages: { content: unknown }[] }
        system.push(JSON.stringify(body.messages[0]))
        return new Response("no", { status: 400 })
      },
    })
    const llm = {
      ...CONFIG.llm,
      ...{ provider: "openai", api_key: "k", base_url: `http://127.0.0.1:${model.port}/v1` },
    }
    place.write("persona.md", "You are Eva, and you like herons.")
    for (const persona of [{}, { file: "persona.md" }]) {
      const kernel = await start(withConfig({ ...CONFIG, llm, persona }))
      await kernel.turn(await kernel.newChat("t"), "hello")
      kernel.signal("SIGTERM")
      expect(await kernel.exited()).toBe(0)
    }
    const [without, having] = [system[0], system.at(-1)]
    expect(without).not.toContain("herons")
    expect(having).toContain("You are Eva, and you like herons.")
  })
})

describe("a wrong configuration ends with code 2 and one line for each key", () => {
  test.each<[string, object, string[]]>([
    [
      "an unknown key",
      { ...CONFIG, server: { lisen: "127.0.0.1:0" } },
      ["server.lisen: there is no such key; did you mean listen? (config.json)"],
    ],
    [
      "wrong types, all at once",
      {
        ...CONFIG,
        server: { drain: "soon", hosts: "x" },
        llm: { ...CONFIG.llm, temperature: "!" },
      },
      [
        'server.drain: expected a duration such as "5s", "1m" or "1h 30m" (config.json)',
        'server.hosts: expected a list, found "x" (config.json)',
        'llm.temperature: expected a number from 0 to 2, found "!" (config.json)',
      ],
    ],
    [
      "missing sections",
      { server: {} },
      [
        "db: this section is required; server, db and llm must be present",
        "llm: this section is required; server, db and llm must be present",
      ],
    ],
    [
      "no address",
      { ...CONFIG, server: { listen: "here" } },
      [
        'server.listen: expected ADDRESS:PORT, such as "127.0.0.1:8090" or "[::1]:8090" (config.json)',
      ],
    ],
    [
      "an address for everybody without a token",
      { ...CONFIG, server: { listen: "0.0.0.0:0" } },
      [
        "server.listen: 0.0.0.0:0 can be reached from other machines; set server.token, or server.trust_proxy: true when a reverse proxy checks who calls (config.json)",
      ],
    ],
  ])("%s", async (_what, config, lines) => {
    const { code, out, err } = await runProgram({ place, ...withConfig(config) })
    expect({ code, out, err: err.split("\n") }).toEqual({
      code: 2,
      out: "",
      err: [...lines.map((line) => `eva-kernel: ${line}`), ""],
    })
    expect(existsSync(place.path("eva.db"))).toBe(false)
  })

  const ROLES = ["general", "fastest", "smartest", "advisor"].map((role) => ({
    key: `llm.model.${role}`,
    llm: { ...CONFIG.llm, model: { ...CONFIG.llm.model, [role]: "mokc" } },
  }))
  test.each([
    ...ROLES,
    { key: "llm.code_model", llm: { ...CONFIG.llm, code_model: "mokc" } },
    { key: "llm.summary_model", llm: { ...CONFIG.llm, summary_model: "mokc" } },
  ])("BOOT-013: $key that is not listed", async ({ key, llm }) => {
    const { code, err } = await runProgram({ place, ...withConfig({ ...CONFIG, llm }) })
    expect({ code, err }).toEqual({
      code: 2,
      err: `eva-kernel: ${key}: mokc is not in llm.models; did you mean mock? (config.json)\n`,
    })
  })

  test.each<[string, Record<string, string>, string]>([
    [
      "a value in the environment",
      { EVA_SERVER__DRAIN: "soon" },
      'server.drain: expected a duration such as "5s", "1m" or "1h 30m" (EVA_SERVER__DRAIN)',
    ],
    [
      "a key in the environment",
      { EVA_SERVR__DRAIN: "1s" },
      "servr: there is no such key; did you mean server? (EVA_SERVR__DRAIN)",
    ],
  ])("%s", async (_what, env, line) => {
    const { code, err } = await runProgram({ place, ...withConfig(), env })
    expect({ code, err }).toEqual({ code: 2, err: `eva-kernel: ${line}\n` })
  })

  test.each<[string, string | undefined, string]>([
    [
      "absent.yaml",
      undefined,
      "cannot read the configuration file absent.yaml: there is no such file",
    ],
    [
      "broken.yaml",
      "server: {\n",
      "broken.yaml: Flow map in block collection must be sufficiently indented and end with a } at line 2, column 1",
    ],
    [
      "broken.toml",
      "\n[",
      "broken.toml: Invalid TOML document: incomplete key-value: cannot find end of key at line 2, column 2",
    ],
    ["broken.json", "{", "broken.json: JSON Parse error: Expected '}'"],
    ["list.yaml", "- a\n", "list.yaml: expected a mapping of sections such as server, db, llm"],
    [
      "config.ini",
      "",
      "config.ini: the format follows the extension, and that must be .yaml, .yml, .toml or .json",
    ],
  ])("the file %s", async (name, content, line) => {
    if (content !== undefined) place.write(name, content)
    const { code, err } = await runProgram({ place, args: ["--config", name] })
    expect({ code, err }).toEqual({ code: 2, err: `eva-kernel: ${line}\n` })
  })

  test("a persona that is absent or a folder", async () => {
    const run = (file: string) =>
      runProgram({ place, ...withConfig({ ...CONFIG, persona: { file } }) })
    const start = "eva-kernel: persona.file: the persona cannot be read: "
    const absent = place.path("nobody.md")
    expect(await run("nobody.md")).toMatchObject({
      code: 2,
      err: `${start}ENOENT: no such file or directory, open '${absent}'\n`,
    })
    expect(await run(".")).toMatchObject({
      code: 2,
      err: `${start}EISDIR: illegal operation on a directory, read\n`,
    })
    expect(existsSync(place.path("eva.db"))).toBe(false)
  })
})

describe("a database that cannot be used ends with code 2, and the file is as it was", () => {
  const refused = async (path = place.path("eva.db")) => {
    const { code, out, err } = await runProgram({
      place,
      ...withConfig({ ...CONFIG, db: { path } }),
    })
    expect({ code, out }).toEqual({ code: 2, out: "" })
    const start = `eva-kernel: db.path: ${path} `
    expect(err).toStartWith(start)
    return err.slice(start.length)
  }

  test("a folder", async () => {
    expect(await refused(place.dir)).toBe("cannot be used as the database: it is a folder\n")
  })

  test("something else", async () => {
    place.write("eva.db", "This is a letter.\n".repeat(300))
    expect(await refused()).toBe(
      "cannot be used as the database: file is not a database. The file is left as it is\n",
    )
    expect(readFileSync(place.path("eva.db"), "utf8")).toBe("This is a letter.\n".repeat(300))
  })

  test("one of a newer kernel", async () => {
    const kernel = await start(withConfig())
    kernel.signal("SIGTERM")
    await kernel.exited()
    {
      using db = new Database(place.path("eva.db"))
      db.run("PRAGMA user_version = 999; PRAGMA wal_checkpoint(TRUNCATE)")
    }
    const bytes = readFileSync(place.path("eva.db"))
    expect(await refused()).toMatch(
      /^has schema version 999, newer than \d+ which this program knows: start the newer eva-kernel that wrote it, or restore the copy made before the upgrade\n$/,
    )
    expect(readFileSync(place.path("eva.db")).equals(bytes)).toBe(true)
  })

  test("one of another program", async () => {
    {
      using db = new Database(place.path("eva.db"))
      db.run("CREATE TABLE notes (text)")
    }
    const bytes = readFileSync(place.path("eva.db"))
    expect(await refused()).toBe(
      "is the database of another program: name a file of the kernel's own\n",
    )
    expect(readFileSync(place.path("eva.db")).equals(bytes)).toBe(true)
  })
})

describe("what another program holds ends with code 1, and nothing is lost", () => {
  test("the database, by another kernel that goes on undisturbed", async () => {
    const config = withConfig()
    const kernel = await start(config)
    const chat = await kernel.newChat()
    const { code, out, err } = await runProgram({ place, ...config })
    const database = place.path("eva.db")
    expect({ code, out, err }).toEqual({
      code: 1,
      out: "",
      err: `eva-kernel: db.path: ${database} is in use by another eva-kernel: stop that one, or give this one its own database\n`,
    })
    expect((await kernel.turn(chat, "still there?")).at(-1)).toMatchObject({ type: "done" })
  })

  test("the port, and the file is closed in order", async () => {
    using other = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("mine") })
    const listen = `127.0.0.1:${other.port}`
    const { code, out, err } = await runProgram({
      place,
      ...withConfig({ ...CONFIG, server: { listen } }),
    })
    expect({ code, out, err }).toEqual({
      code: 1,
      out: "",
      err: `eva-kernel: server.listen: cannot listen on ${listen}: Failed to start server. Is port ${other.port} in use?\n`,
    })
    expect(readdirSync(place.dir).filter((name) => /-(?:wal|shm)$/.test(name))).toEqual([])
  })
})
