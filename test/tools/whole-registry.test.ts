/** What holds for the tools of a whole kernel taken together: their names, gates, groups and limits. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import type { ToolGate } from "../../src/schema/tool-spec.ts"
import { SESSION_LIMITS } from "../../src/shell/sessions.ts"
import { PROGRESS_LIMITS } from "../../src/tools/progress.ts"
import type { Tool } from "../../src/tools/tool.ts"
import { plan, type TestKernel, testKernel } from "../support/kernel.ts"

let kernel: TestKernel
let tools: Tool[]
beforeAll(async () => {
  // A model for outside work, so that its tool is there, too.
  kernel = await testKernel({ config: { llm: { code_model: "mock" } } })
  tools = kernel.api.registry.list().map(({ tool }) => tool)
})
afterAll(() => kernel.dispose())

const tool = (name: string): Tool => {
  const found = tools.find((one) => one.name === name)
  if (!found) throw new Error(`there is no tool ${name}`)
  return found
}

interface Schema {
  type?: string
  minimum?: number
  maximum?: number
  required?: string[]
  properties?: Record<string, Schema>
  items?: Schema
  anyOf?: Schema[]
}

/** Every name of a parameter, with those of objects inside: `questions[].text`; optional ones end in `?`. */
function parametersOf(schema: Schema, prefix = ""): string[] {
  const { properties = {}, required = [], items, anyOf = [] } = schema
  const own = Object.entries(properties).flatMap(([name, inner]) => [
    `${prefix}${name}${required.includes(name) ? "" : "?"}`,
    ...parametersOf(inner, `${prefix}${name}.`),
  ])
  const inside = items ? parametersOf(items, `${prefix.replace(/\.$/, "")}[].`) : []
  return [...new Set([...own, ...inside, ...anyOf.flatMap((one) => parametersOf(one, prefix))])]
}

const FILE_TOOLS = [
  ...["read_file", "write_file", "write_diff", "apply_patch", "find_pattern"],
  ...["read_hex", "write_hex", "find_hex"],
]

describe("the registry of a whole kernel", () => {
  test("S-1: parameters bear English names in snake case, and change only on purpose", () => {
    const names = Object.fromEntries(
      tools.map(({ name, input }) => [name, parametersOf(input as Schema)] as const).sort(),
    )
    const words = Object.values(names).flat()
    expect(words.length).toBeGreaterThan(50)
    expect(words.filter((word) => !/^[a-z0-9_.[\]?]+$/.test(word))).toEqual([])
    expect(names).toMatchSnapshot()
  })

  test("S-3: groups bear the names by which sets and settings mean them", () => {
    const groupOf = (name: string) => tool(name).group
    for (const name of [...FILE_TOOLS, "local_shell", "workdir"]) {
      expect([name, groupOf(name)]).toEqual([name, "client"])
    }
    expect(["toolset", "tool_load", "tool_find", "toolset_create"].map(groupOf)).toEqual(
      Array(4).fill("toolset"),
    )
    expect(["think_harder", "lift_turn_limit", "turn_plan"].map(groupOf)).toEqual(
      Array(3).fill("turn"),
    )
    expect([groupOf("chat_attention"), groupOf("code_task")]).toEqual(["attention", "code"])
  })

  test("C-5 S-7: local_shell alone needs the client; the other file tools ask for the master and for nobody who reads along, and take `on`", () => {
    const asksFor = (gate: ToolGate) =>
      tools.filter(({ gates }) => gates.includes(gate)).map(({ name }) => name)
    expect(asksFor("client_only")).toEqual(["local_shell"])
    expect([...tool("local_shell").gates].sort()).toEqual([
      ...(["client_only", "master_only", "not_public"] as const),
    ])
    for (const name of FILE_TOOLS) {
      expect([name, [...tool(name).gates].sort()]).toEqual([name, ["master_only", "not_public"]])
      expect(Object.keys((tool(name).input as Schema).properties!)).toContain("on")
    }
  })

  test("C-4: read_file and find_pattern are readers of windows, and no full texts", () => {
    for (const name of ["read_file", "find_pattern"]) {
      const { windowed, uncapped } = tool(name).traits
      expect([name, windowed, uncapped]).toEqual([name, true, undefined])
    }
  })

  test("S-15: a command has an hour at most, a session's first wait lies between 250 ms and 30 s, and progress is told four times a second, 200 times, in 8 KiB", () => {
    const { timeout_s, yield_ms } = (tool("shell").input as Schema).properties!
    expect(timeout_s).toMatchObject({ minimum: 1, maximum: 3600 })
    expect(yield_ms).toMatchObject({ minimum: 250, maximum: 30_000 })
    expect(PROGRESS_LIMITS).toEqual({ intervalMs: 250, count: 200, tailBytes: 8192 })
  })

  test("S-16: there are sixteen sessions at most", () => {
    expect(SESSION_LIMITS.count).toBe(16)
  })

  test("S-17: shell_write takes the session, and what is typed and how long to wait if they are given", () => {
    expect(parametersOf(tool("shell_write").input as Schema)).toEqual([
      ...["session_id", "input?", "yield_ms?"],
    ])
  })

  test("tools of sets bear a toolbox and those of the notebook a page, and no model is shown any icon", async () => {
    for (const name of ["toolset", "tool_load", "tool_find"]) {
      expect([name, tool(name).icon]).toEqual([name, "🧰"])
    }
    const notes = tools.filter(({ name }) => name.startsWith("chat_note_"))
    expect(notes.length).toBeGreaterThan(2)
    for (const { name, icon } of notes) expect([name, icon]).toEqual([name, "📝"])
    await kernel.turn(kernel.newChat(), plan([{ say: "ok" }]))
    const sent = JSON.stringify(kernel.requests.at(-1)!.tools)
    expect(kernel.requests.at(-1)!.tools.length).toBeGreaterThan(20)
    for (const { icon } of tools) if (icon !== undefined) expect(sent).not.toContain(icon)
  })
})
