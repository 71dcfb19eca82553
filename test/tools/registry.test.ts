import { expect, test } from "bun:test"
import { createLog, silentLog } from "../../src/lib/log.ts"
import { TOOL_GATES } from "../../src/schema/tool-spec.ts"
import { createRegistry } from "../../src/tools/registry.ts"
import { makeTool, registryOf } from "../support/tools.ts"

test("TOOL-3 BOOT-027: a second registration of a name is skipped, logged loudly and listed", () => {
  const lines: string[] = []
  const log = createLog({ level: "error", human: false, write: (line) => lines.push(line) })
  const registry = createRegistry({ log })
  const first = makeTool({ name: "weather", group: "web" })

  expect(registry.register(first)).toBe(true)
  expect(registry.register(makeTool({ name: "weather", group: "ext" }))).toBe(false)

  expect(registry.get("weather")).toBe(first)
  expect(registry.collisions()).toEqual(["weather"])
  expect(lines).toHaveLength(1)
  expect(JSON.parse(lines[0]!)).toMatchObject({
    level: "error",
    tool: "weather",
    group: "ext",
    taken_by: "web",
  })
})

test("a tool that no provider takes is refused alone", () => {
  const registry = createRegistry({ log: silentLog })
  registry.registerAll([
    makeTool({ name: "with space" }),
    makeTool({ name: "x".repeat(65) }),
    makeTool({ name: "" }),
    makeTool({ name: "no_object", input: { type: "array" } }),
    makeTool({ name: "fine" }),
  ])
  expect(registry.list().map((entry) => entry.tool.name)).toEqual(["fine"])
  expect(registry.collisions()).toEqual([])
})

test("TOOL-1: a group comes with the registration and orders the list, whoever registers first", () => {
  const tools = [
    makeTool({ name: "b_say", group: "telegram" }),
    makeTool({ name: "memory_search", group: "memory" }),
    makeTool({ name: "a_say", group: "telegram" }),
  ]
  const order = (...list: typeof tools) => registryOf(...list).info([])
  expect(order(...tools).map((tool) => [tool.group, tool.name])).toEqual([
    ["memory", "memory_search"],
    ["telegram", "a_say"],
    ["telegram", "b_say"],
  ])
  expect(order(...tools.toReversed())).toEqual(order(...tools))
})

test("TOOL-4: a module that attaches anew collides with nothing", () => {
  const registry = registryOf(
    makeTool({ name: "shell", group: "shell" }),
    makeTool({ name: "say", group: "telegram" }),
    makeTool({ name: "shell", group: "telegram" }),
  )
  expect(registry.collisions()).toEqual(["shell"])

  registry.removeGroup("telegram", "the module detached")
  expect(registry.get("say")).toBeUndefined()
  expect(registry.whyGone("say")).toBe("the module detached")
  expect(registry.collisions()).toEqual([])

  expect(registry.register(makeTool({ name: "say", group: "telegram" }))).toBe(true)
  expect(registry.whyGone("say")).toBeUndefined()
  expect(registry.collisions()).toEqual([])
})

test("TOOL-5 TOOL-6: the schema of a success stands at the end of the description, the tool's own text first", () => {
  const output = { type: "object", properties: { agents: { type: "array" } } }
  const [info] = registryOf(makeTool({ description: "Lists agents.", output })).info([])
  expect(info!.description).toStartWith("Lists agents.\n")
  expect(info!.description).toEndWith(JSON.stringify(output))
  expect(info).not.toHaveProperty("output_schema")
  // Nor has what providers are sent any field for it.
  const [entry] = registryOf(makeTool({ output })).list()
  expect(Object.keys(entry!.spec).sort()).toEqual(["description", "input_schema", "name"])
})

test("GATE-26: the catalogue shows raised flags only, every gate under its own name", () => {
  const [info]: object[] = registryOf(
    makeTool({ icon: "📝", brief: "{from}", gates: [...TOOL_GATES], traits: { quiet: true } }),
  ).info(["test"])
  expect(info).toEqual({
    name: "echo",
    description: "Says its input again",
    input_schema: { type: "object", properties: {} },
    group: "test",
    icon: "📝",
    brief: "{from}",
    quiet: true,
    on_demand: true,
    master_only: true,
    trusted_only: true,
    privileged_only: true,
    client_only: true,
    agent_only: true,
    lead_only: true,
    needs_agents: true,
    anchored_only: true,
    indexed_notes_only: true,
    planning_only: true,
    not_public: true,
    unlisted: true,
  })

  const [plain] = registryOf(makeTool()).info([])
  expect(Object.keys(plain!).sort()).toEqual(["description", "group", "input_schema", "name"])
})
