import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { buildConfig } from "../../src/config/build.ts"
import { DEFAULT_TIMEOUT_MS } from "../../src/ext/declaration.ts"
import { loadExternalTools } from "../../src/ext/load.ts"
import { createLog, silentLog } from "../../src/lib/log.ts"
import { reach } from "../../src/tools/reach.ts"
import type { Tool } from "../../src/tools/tool.ts"
import { processLives } from "../support/process-lives.ts"
import { CONFIG } from "../support/served.ts"
import { guestIdentity, masterIdentity, reachTurn, runTool } from "../support/tools.ts"

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "ext-"))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const ENVIRONMENT = { ...process.env, OPENAI_API_KEY: "sk-secret", EVA_TRACE_DIR: "/x", LANG: "C" }

const load = () => loadExternalTools({ dir, log: silentLog, environment: ENVIRONMENT })

function declare(name: string, lines: string): void {
  writeFileSync(join(dir, `${name}.toml`), `name = "${name}"\ndescription = "Test"\n${lines}`)
}

/** A tool whose program is this shell script. */
async function script(text: string, lines = ""): Promise<Tool> {
  writeFileSync(join(dir, "run.sh"), `#!/bin/sh\n${text}\n`)
  chmodSync(join(dir, "run.sh"), 0o755)
  declare("probe", `command = ["./run.sh"]\n${lines}`)
  const { tools, problems } = await load()
  expect(problems).toEqual([])
  return tools[0]!
}

describe("declarations", () => {
  test("EXT-1: a file declares name, description, command, timeout and input schema", async () => {
    writeFileSync(
      join(dir, "weather.toml"),
      `name = "weather"
description = "Get current weather for a city"
command = ["/usr/local/bin/weather-cli"]
timeout = "30s"

[input_schema]
type = "object"
[input_schema.properties.city]
type = "string"
`,
    )
    const { tools, problems } = await load()
    expect(problems).toEqual([])
    expect(tools).toHaveLength(1)
    expect(tools[0]).toMatchObject({
      name: "weather",
      group: "ext",
      description: "Get current weather for a city",
      input: { type: "object", properties: { city: { type: "string" } } },
      gates: ["master_only"],
    })
  })

  test("S-18: what a declaration leaves out: 30 seconds, the group ext, the master alone; the folder is tools.d beside the settings", async () => {
    declare("a", 'command = ["true"]')
    const { tools } = await load()
    expect(tools[0]).toMatchObject({ group: "ext", gates: ["master_only"] })
    expect(DEFAULT_TIMEOUT_MS).toBe(30_000)
    // The kernel's own limit leaves time to end the program's group.
    expect(tools[0]!.timeoutMs).toBeGreaterThan(DEFAULT_TIMEOUT_MS)
    expect(tools[0]!.timeoutMs).toBeLessThan(DEFAULT_TIMEOUT_MS + 10_000)
    const { config } = buildConfig({
      sources: [{ name: "test", directory: "/etc/eva", tree: CONFIG }],
      environment: {},
      directory: "/etc/eva",
    })
    expect(config.tools.dir).toBe("/etc/eva/tools.d")
  })

  test("what a feed shows and who may call are part of the declaration", async () => {
    declare("a", 'command = ["true"]\naccess = "everyone"\ngroup = "home"\nicon = "🌦"')
    declare("b", 'command = ["true"]\naccess = "allowed"\nbrief = "{city}"\nquiet = true')
    const { tools } = await load()
    expect(tools[0]).toMatchObject({ group: "home", icon: "🌦", gates: [] })
    expect(tools[1]).toMatchObject({ brief: "{city}", traits: { quiet: true } })
    const state = (tool: Tool, identity = guestIdentity()) =>
      reach(tool, reachTurn({ identity })).state
    expect(state(tools[0]!)).toBe("visible")
    expect(state(tools[1]!)).toBe("forbidden")
    expect(state(tools[1]!, guestIdentity({ privileged: true }))).toBe("visible")
    declare("c", 'command = ["true"]')
    const master = (await load()).tools[2]!
    expect(state(master, guestIdentity({ privileged: true }))).toBe("forbidden")
    expect(state(master, masterIdentity())).toBe("visible")
  })

  const BROKEN: [string, string, string][] = [
    ["no TOML", "name = = 3", "line 1: Invalid TOML document"],
    ["a misspelt key", 'name = "x"\ndescription = "d"\ncomand = ["a"]', "rename comand → command"],
    ["a name for no provider", 'name = "a b"\ndescription = "d"\ncommand = ["a"]', '"name": '],
    ["a command as text", 'name = "x"\ndescription = "d"\ncommand = "a b"', "expected array"],
    ["an empty command", 'name = "x"\ndescription = "d"\ncommand = []', "too few items"],
    [
      "a timeout that is none",
      'name = "x"\ndescription = "d"\ncommand = ["a"]\ntimeout = "soon"',
      '"timeout" is a duration such as 30s or 5m, at most 1h; it is "soon"',
    ],
    [
      "an unknown access",
      'name = "x"\ndescription = "d"\ncommand = ["a"]\naccess = "all"',
      '"access": expected "master" or "allowed" or "everyone"',
    ],
    [
      "a schema of no object",
      'name = "x"\ndescription = "d"\ncommand = ["a"]\n[input_schema]\ntype = "string"',
      '"input_schema.type" must be "object"',
    ],
    [
      "a schema nobody can check against",
      'name = "x"\ndescription = "d"\ncommand = ["a"]\n[input_schema.properties.a]\npattern = "("',
      '"input_schema" is no usable JSON Schema',
    ],
  ]
  test("a broken file is skipped alone, with a log line and a problem that name file and cause", async () => {
    declare("fine", 'command = ["true"]')
    for (const [what, text, cause] of BROKEN) {
      writeFileSync(join(dir, "broken.toml"), text)
      const lines: string[] = []
      const log = createLog({ level: "warn", human: false, write: (line) => lines.push(line) })
      const { tools, problems } = await loadExternalTools({ dir, log, environment: {} })
      expect([what, tools.map((tool) => tool.name)]).toEqual([what, ["fine"]])
      expect(problems).toEqual([
        { file: join(dir, "broken.toml"), problem: expect.stringContaining(cause) },
      ])
      expect(JSON.parse(lines[0]!)).toMatchObject({ level: "error", ...problems[0] })
    }
  })

  test("a folder that is absent holds no tools, and only TOML files are read", async () => {
    writeFileSync(join(dir, "readme.md"), "#")
    writeFileSync(join(dir, ".draft.toml"), "=")
    expect(await load()).toEqual({ tools: [], problems: [] })
    mkdirSync(join(dir, "folder.toml"))
    expect((await load()).problems).toHaveLength(1)
    rmSync(dir, { recursive: true })
    expect(await load()).toEqual({ tools: [], problems: [] })
  })
})

describe("calls", () => {
  test("EXT-2: the input comes as JSON on standard input, standard output is the result", async () => {
    const tool = await script("cat")
    expect(await runTool(tool, { city: "Череповец 😀", days: [1, 2] })).toEqual({
      output: '{"city":"Череповец 😀","days":[1,2]}',
      isError: false,
    })
    const bun = await script(
      "exec bun -e 'const {a,b} = await Bun.stdin.json(); console.log(a + b)'",
    )
    expect(await runTool(bun, { a: 2, b: 3 })).toEqual({ output: "5", isError: false })
  })

  test("EXT-3: the environment names the calling chat, turn and call, and holds no secret of ours", async () => {
    const { output } = await runTool(await script("env"))
    const names = Object.fromEntries(output.split("\n").map((line) => line.split("=", 2)))
    expect(names).toMatchObject({
      EVA_CHAT_ID: "chat-1",
      EVA_TURN_ID: "turn-1",
      EVA_CALL_ID: "call_1",
      EVA_MASTER: "1",
      LANG: "C",
    })
    expect(output).not.toContain("sk-secret")
    expect(names).not.toHaveProperty("EVA_TRACE_DIR")
  })

  test("EXT-4: a nonzero exit code is an error with what was printed", async () => {
    const tool = await script("echo half done; echo 'no such city' >&2; exit 3")
    expect(await runTool(tool)).toEqual({
      output: "probe exited with code 3\n== stderr\nno such city\n== stdout\nhalf done",
      isError: true,
    })
    expect(await runTool(await script("exit 7"))).toEqual({
      output: "probe exited with code 7 and printed nothing",
      isError: true,
    })
    expect((await runTool(await script("kill -9 $$"))).output).toStartWith(
      "probe was ended by SIGKILL",
    )
  })

  test("EXT-4: the limit is an error with what was printed, and no process is left", async () => {
    const tool = await script("echo begun; sleep 60 & echo $!; sleep 60", 'timeout = "300ms"')
    const result = await runTool(tool)
    expect(result.isError).toBe(true)
    expect(result.output).toStartWith(
      "probe was stopped after its limit of 0.3 s\n== stdout\nbegun\n",
    )
    expect(await processLives(Number(result.output.split("\n").at(-1)))).toBe(false)
  })

  test("a cancel ends the program and its children before the result is there", async () => {
    const tool = await script("sleep 60 & echo $! > child; wait")
    const cancel = new AbortController()
    const result = runTool(tool, {}, { signal: cancel.signal })
    const child = join(dir, "child")
    while (!existsSync(child) || statSync(child).size === 0) await Bun.sleep(10)
    cancel.abort()
    expect(await result).toEqual({
      output: "probe was stopped by the cancel of the turn and printed nothing",
      isError: true,
    })
    expect(await processLives(Number(readFileSync(child, "utf8")))).toBe(false)
  })

  test("a program in PATH is found, a missing one is a clear error", async () => {
    declare("a", 'command = ["printf", "%s", "hi"]')
    declare("b", 'command = ["no-such-program"]')
    declare("c", 'command = ["./missing.sh"]')
    const { tools } = await load()
    expect(await runTool(tools[0]!)).toEqual({ output: "hi", isError: false })
    expect((await runTool(tools[1]!)).output).toBe(
      "cannot start no-such-program: no such program in PATH",
    )
    expect((await runTool(tools[2]!)).output).toContain("missing.sh: no such program")
  })

  test("the program runs in the folder of its declaration", async () => {
    expect((await runTool(await script("pwd"))).output).toBe(dir)
  })

  test("wrong arguments never start the program", async () => {
    const tool = await script(
      "touch started",
      '[input_schema]\nrequired = ["city"]\nproperties = { city = { type = "string" } }',
    )
    const result = await runTool(tool, { ctiy: "x" })
    expect(result.output).toContain("rename ctiy → city")
    expect(await Bun.file(join(dir, "started")).exists()).toBe(false)
  })

  test("output that is no text is named, not shown, and stray bytes are replaced", async () => {
    expect((await runTool(await script(`head -c 4000 "$(command -v sh)"`))).output).toBe(
      "[binary output: 4000 bytes, not shown]",
    )
    expect((await runTool(await script("printf 'caf\\351 \\355\\240\\200'"))).output).toBe(
      "caf\ufffd \ufffd\ufffd\ufffd",
    )
    expect((await runTool(await script("printf 'a\\000b'"))).output).toBe("a␀b")
  })
})
