/** The container, the unit of the system and the workflow: each held against what reads it, as far as that is here. */
import { describe, expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { type Schema, Validator } from "@cfworker/json-schema"
import { parse } from "yaml"
import packageJson from "../../package.json"
import { readCommandLine } from "../../src/cli/command-line.ts"
import { ServerSection } from "../../src/config/sections/server.ts"
import { parseDuration } from "../../src/lib/duration.ts"

const ROOT = join(import.meta.dir, "../..")
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8")
const DRAIN_MS = parseDuration(ServerSection.properties.drain.default as string)!

interface Compose {
  services: Record<
    string,
    { volumes: string[]; ports: string[]; build: { dockerfile: string }; stop_grace_period: string }
  >
  volumes: Record<string, unknown>
}

const text = { type: "string" }
const texts = { type: "array", items: text, uniqueItems: true }
const mapping = (properties: Record<string, object>, required: string[] = []): object => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
})

/**
 * Of the published schema (compose-spec/compose-spec, schema/compose-spec.json) the keys that are used here, each
 * with the form that is used here. The file was found right by the whole of it.
 */
const COMPOSE_SCHEMA = mapping(
  {
    name: { type: "string", pattern: "^[a-z0-9][a-z0-9_-]*$" },
    services: {
      type: "object",
      additionalProperties: mapping({
        image: text,
        build: mapping({ context: text, dockerfile: text }, ["context"]),
        command: { type: "array", items: text },
        ports: { ...texts, items: { type: "string", pattern: "^([0-9.]+:)?\\d+:\\d+$" } },
        volumes: {
          ...texts,
          items: { type: "string", pattern: "^(\\.?/|\\w+:)[^:]*:?[^:]*(:ro)?$" },
        },
        restart: { enum: ["no", "always", "on-failure", "unless-stopped"] },
        stop_grace_period: { type: "string", pattern: "^(\\d+(h|m|s))+$" },
        init: { type: "boolean" },
        read_only: { type: "boolean" },
        tmpfs: texts,
        cap_drop: texts,
        security_opt: texts,
      }),
    },
    volumes: { type: "object", additionalProperties: { type: ["object", "null"] } },
  },
  ["services"],
)

describe("compose.yaml", () => {
  const yaml = read("compose.yaml")
  const validator = new Validator(COMPOSE_SCHEMA as Schema, "7")
  const compose = parse(yaml) as Compose
  const service = compose.services["eva-kernel"]!

  test("NIX-008: it mounts config.yaml, keeps the state in a volume and fits the schema of Compose", () => {
    const { valid, errors } = validator.validate(compose)
    expect({ valid, errors }).toEqual({ valid: true, errors: [] })
    expect(service.volumes).toContain("./config.yaml:/config/config.yaml:ro")
    expect(service.volumes).toContain("data:/data")
    expect(Object.keys(compose.volumes)).toEqual(["data"])
  })

  test("NIX-008: the second --config for secrets takes nothing but removing two marks", () => {
    const opened = yaml
      .replace("      # - ./secrets.yaml", "      - ./secrets.yaml")
      .replace("    # command:", "    command:")
    const { services } = parse(opened) as { services: Record<string, { command: string[] }> }
    expect(validator.validate(parse(opened)).valid).toBe(true)
    const { command } = services["eva-kernel"]!
    expect(readCommandLine(command)).toMatchObject({ command: "serve" })
    expect(command.filter((word) => word.startsWith("/"))).toEqual([
      "/config/config.yaml",
      "/config/secrets.yaml",
    ])
  })

  test("the schema is no rubber stamp", () => {
    expect(validator.validate({ services: { a: { voluems: [] } } }).valid).toBe(false)
  })

  test("it waits longer than the kernel drains", () => {
    expect(parseDuration(service.stop_grace_period)!).toBeGreaterThan(DRAIN_MS)
  })
})

describe("the Dockerfile", () => {
  const text = read("packaging/Dockerfile")
  const instructions = text.replaceAll(/\\\n/g, " ").split("\n")
  const values = (name: string): string[] =>
    instructions
      .filter((line) => line.startsWith(`${name} `))
      .map((line) => line.slice(name.length + 1).trim())

  test("NIX-008: it serves the mounted configuration on the port and in the volume of compose.yaml", () => {
    expect(readCommandLine(JSON.parse(values("CMD")[0]!) as string[])).toMatchObject({
      command: "serve",
      args: ["--config", "/config/config.yaml"],
    })
    expect(values("ENV").join(" ")).toContain("EVA_SERVER__LISTEN=0.0.0.0:8080")
    expect(values("ENV").join(" ")).toContain("EVA_DB__PATH=/data/eva.db")
    expect([values("EXPOSE"), values("VOLUME")]).toEqual([["8080"], ["/data"]])
    expect(parse(read("compose.yaml")).services["eva-kernel"].ports).toEqual([
      "127.0.0.1:8080:8080",
    ])
  })

  test("what it copies is in the build's context, and exists", () => {
    const context = read("packaging/Dockerfile.dockerignore")
      .split("\n")
      .filter((line) => line.startsWith("!"))
      .map((line) => line.slice(1))
    const copied = values("COPY")
      .filter((words) => !words.startsWith("--from"))
      .flatMap((words) => words.split(/\s+/).slice(0, -1))
    expect(copied.sort()).toEqual(context.sort())
    for (const path of copied)
      expect([path, [...new Bun.Glob(path).scanSync({ cwd: ROOT, onlyFiles: false })]]).toEqual([
        path,
        [path],
      ])
  })

  test("the runtime is the one that everything here is tested with", () => {
    expect(values("FROM")[0]).toStartWith(`oven/bun:${Bun.version}-`)
    expect(packageJson.devDependencies["@types/bun"]).toBe(Bun.version)
  })

  test("the kernel is not root", () => {
    expect(values("USER")).toEqual(["10001:10001"])
  })
})

describe("the unit of the system", () => {
  const path = join(ROOT, "packaging/systemd/eva-kernel.service")
  const text = readFileSync(path, "utf8")
  const hasSystemd = Bun.which("systemd-analyze") !== null
  if (!hasSystemd) process.stderr.write("skipped: systemd-analyze is not installed\n")

  test.skipIf(!hasSystemd)("systemd knows every key and value of it", () => {
    const { stderr } = Bun.spawnSync(["systemd-analyze", "verify", path])
    // The program and its manual are not installed where tests run.
    const complaints = stderr
      .toString()
      .split("\n")
      .filter(
        (line) =>
          line.includes("eva-kernel.service") && !/is not executable|man eva-kernel/.test(line),
      )
    expect(complaints).toEqual([])
  })

  test.skipIf(!hasSystemd)("systemd rates its exposure as low", () => {
    const { exitCode, stdout } = Bun.spawnSync([
      ...["systemd-analyze", "security", "--offline=yes", "--threshold=30"],
      path,
    ])
    if (exitCode !== 0) throw new Error(stdout.toString())
  })

  test("it starts what the program understands, and waits longer than the kernel drains", () => {
    const words = /^ExecStart=\/usr\/local\/bin\/eva-kernel (.+)$/m.exec(text)![1]!.split(" ")
    expect(readCommandLine(words)).toMatchObject({ command: "serve" })
    expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(text)![1]) * 1000).toBeGreaterThan(DRAIN_MS)
  })

  test("unit, container and module have the runtime save memory alike", () => {
    const files = ["systemd/eva-kernel.service", "Dockerfile", "nix/module.nix"]
    const sizes = files.map(
      (file) => /BUN_JSC_forceRAMSize ?= ?"?(\d+)/.exec(read(`packaging/${file}`))?.[1],
    )
    expect(sizes).toEqual(["536870912", "536870912", "536870912"])
  })

  test("no foreign runtime options, and no protection that the runtime cannot live with", () => {
    expect(text).toMatch(/^UnsetEnvironment=.*\bBUN_OPTIONS\b.*\bBUN_BE_BUN\b/m)
    expect(text).not.toMatch(/^MemoryDenyWriteExecute=/m)
  })
})

describe("the release workflow", () => {
  interface Workflow {
    on: { push: { tags: string[] } }
    permissions: object
    jobs: { release: { steps: { uses?: string; run?: string; with?: Record<string, string> }[] } }
  }
  const workflow = parse(read(".github/workflows/release.yml")) as Workflow
  const { steps } = workflow.jobs.release

  test("a tag is checked before it is built, and built before it is published", () => {
    expect(workflow.on.push.tags).toEqual(["v*"])
    const runs = steps.map(({ run = "" }) => run)
    const order = ["bun run check", "bun run release", "gh release create"].map((command) =>
      runs.findIndex((run) => run.includes(command)),
    )
    expect(order).not.toContain(-1)
    expect(order).toEqual([...order].sort((a, b) => a - b))
  })

  test("it uses this runtime, and scripts that exist", () => {
    const setup = steps.find(({ uses }) => uses?.startsWith("oven-sh/setup-bun@"))
    expect(setup?.with?.["bun-version"]).toBe(Bun.version)
    const scripts = steps.flatMap(({ run = "" }) =>
      [...run.matchAll(/bun run (\w+)/g)].map((match) => match[1]!),
    )
    expect(Object.keys(packageJson.scripts)).toEqual(expect.arrayContaining(scripts))
  })

  test("nothing may write but the one job", () => {
    expect(workflow.permissions).toEqual({})
    expect(readdirSync(join(ROOT, ".github/workflows"))).toContain("release.yml")
  })
})
