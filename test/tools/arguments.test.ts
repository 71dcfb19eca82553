import { expect, test } from "bun:test"
import { Type } from "@sinclair/typebox"
import { createFold } from "../../src/llm/fold.ts"
import type { ToolUseBlock } from "../../src/schema/message.ts"
import { checkArguments } from "../../src/tools/arguments.ts"
import type { JsonSchema, Tool } from "../../src/tools/tool.ts"
import { makeTool, runBlock, runTool, toolUse } from "../support/tools.ts"

const File = Type.Object({
  path: Type.String(),
  offset: Type.Optional(Type.Integer({ minimum: 1 })),
  whole: Type.Optional(Type.Boolean()),
})

/** A tool that counts how often its body ran. */
function counting(input: JsonSchema): { tool: Tool; inputs: unknown[] } {
  const inputs: unknown[] = []
  const run = async (_context: unknown, given: unknown) => {
    inputs.push(given)
    return { output: "ran" }
  }
  return { tool: makeTool({ name: "read_file", input, run }), inputs }
}

/** The call as it comes out of a provider's stream. */
function folded(raw: string): ToolUseBlock {
  const fold = createFold({ provider: "mock", model: "m" }, () => "call_1")
  fold.push({ type: "tool_call", index: 0, id: "call_1", name: "read_file", arguments: raw })
  return fold.result().blocks[0] as ToolUseBlock
}

const check = (input: unknown, schema: JsonSchema) => checkArguments(toolUse("x", input), schema)
const refusalOf = async (input: unknown, schema: JsonSchema): Promise<string> =>
  ((await check(input, schema)) as { refusal: string }).refusal

test("TOOL-12: an object in surplus quotes is repaired silently before the tool runs", async () => {
  const { tool, inputs } = counting(File)
  const raw = JSON.stringify(JSON.stringify({ path: "a.txt" }))
  expect(await runBlock(tool, folded(raw))).toEqual({ output: "ran", isError: false })
  expect(await runTool(tool, JSON.stringify({ path: "b.txt" }))).toEqual({
    output: "ran",
    isError: false,
  })
  expect(inputs).toEqual([{ path: "a.txt" }, { path: "b.txt" }])
})

test("TOOL-13: broken JSON is called broken JSON and the tool does not run", async () => {
  const { tool, inputs } = counting(File)
  for (const raw of ['{"path": "a.tx', "{path: a}", '{"path": "a"}}', "not json"]) {
    const result = await runBlock(tool, folded(raw))
    expect(result.isError).toBe(true)
    expect(result.output).toStartWith("The arguments are broken JSON (")
    expect(result.output).toContain(raw)
  }
  const list = await runBlock(tool, folded('["a"]'))
  expect(list.output).toStartWith(
    "The arguments must be one JSON object, and they are a JSON array",
  )
  expect(inputs).toEqual([])
})

test("arguments that are truly empty are an empty object", async () => {
  const { tool, inputs } = counting({ type: "object", properties: {} })
  await runBlock(tool, folded(""))
  expect(inputs).toEqual([{}])
})

test("TOOL-14: a missing field comes with the sent fields and the nearest name", async () => {
  expect(await refusalOf({ paht: "a", offset: 3 }, File)).toBe(
    'The arguments do not fit; the tool did not run.\n- missing required field "path"; sent fields: paht, offset; rename paht → path',
  )
  expect(await refusalOf({ offset: 3 }, File)).toContain(
    'missing required field "path"; sent fields: offset',
  )
  expect(await refusalOf({}, File)).toContain("sent fields: none")
})

test("TOOL-15 TURN-023: arguments are checked in the registry's run, before any tool body", async () => {
  const { tool, inputs } = counting(File)
  const block = folded('{"paht": "a.txt"}')
  const result = await runBlock(tool, block)
  expect(result).toMatchObject({ isError: true })
  expect(result.output).toContain("rename paht → path")
  expect((await runBlock(tool, folded('{"path": '))).output).toContain("broken JSON")
  expect(inputs).toEqual([])
  expect(await runBlock(tool, folded('"{\\"path\\": \\"a.txt\\"}"'))).toMatchObject({
    isError: false,
  })
  expect(inputs).toEqual([{ path: "a.txt" }])
})

test("a wrong type says what was expected and what came", async () => {
  expect(await refusalOf({ path: "a", offset: "many" }, File)).toContain(
    '- "offset": expected integer, got string "many"',
  )
  expect(await refusalOf({ path: ["a"] }, File)).toContain(
    '- "path": expected string, got array ["a"]',
  )
  expect(await refusalOf({ path: "a", offset: 0 }, File)).toContain('- "offset": 0 is less than 1')
  expect(await refusalOf({ path: "a", whole: { deep: "x".repeat(500) } }, File)).toMatch(
    /"whole": expected boolean, got object \{"deep":"x{40,60}…$/,
  )
})

test("choices and unknown fields are told in full", async () => {
  const schema = Type.Object(
    {
      mode: Type.Union([Type.Literal("read"), Type.Literal("write")]),
      level: Type.Optional(Type.Unsafe<string>({ enum: ["low", "high"] })),
    },
    { additionalProperties: false },
  )
  expect(await refusalOf({ mode: "raed" }, schema)).toContain(
    '"mode": expected "read" or "write", got string "raed"',
  )
  expect(await refusalOf({ mode: "read", level: "mid" }, schema)).toContain(
    '"level": expected "low" or "high", got string "mid"',
  )
  expect(await refusalOf({ mode: "read", levl: "low" }, schema)).toContain(
    'unknown field "levl"; known fields: mode, level; rename levl → level',
  )
})

test("nested fields are named by their path", async () => {
  const schema = Type.Object({
    edits: Type.Array(Type.Object({ from: Type.Integer(), text: Type.String() })),
  })
  const text = await refusalOf(
    {
      edits: [
        { from: 1, text: "a" },
        { from: "x", txt: "b" },
      ],
    },
    schema,
  )
  expect(text).toContain('"edits.1.from": expected integer, got string "x"')
  expect(text).toContain(
    'missing required field "text" in "edits.1"; sent fields: from, txt; rename txt → text',
  )
})

test("plain JSON Schema with references is understood as TypeBox's is", async () => {
  const schema = {
    $schema: "http://json-schema.org/draft-07/schema#",
    type: "object",
    required: ["at"],
    properties: { at: { $ref: "#/definitions/point" } },
    definitions: {
      point: { type: "object", required: ["lat"], properties: { lat: { type: "number" } } },
    },
  }
  expect(await check({ at: { lat: "59.1" } }, schema)).toEqual({ input: { at: { lat: 59.1 } } })
  expect(await refusalOf({ at: { lta: 1 } }, schema)).toContain(
    'missing required field "lat" in "at"; sent fields: lta; rename lta → lat',
  )
  expect(await refusalOf({ at: { lat: true } }, schema)).toContain(
    '"at.lat": expected number, got boolean true',
  )
})

test("what was written as a string and has one reading is read so", async () => {
  const schema = Type.Object({
    count: Type.Integer(),
    ratio: Type.Optional(Type.Number()),
    deep: Type.Optional(Type.Boolean()),
    names: Type.Optional(Type.Array(Type.String())),
    limits: Type.Optional(Type.Object({ max: Type.Integer() })),
    until: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
  })
  const sent = {
    count: "12",
    ratio: "-1.5e2",
    deep: "True",
    names: '["a","b"]',
    limits: '{"max":"3"}',
    until: "null",
  }
  const before = structuredClone(sent)
  expect(await check(sent, schema)).toEqual({
    input: {
      count: 12,
      ratio: -150,
      deep: true,
      names: ["a", "b"],
      limits: { max: 3 },
      until: null,
    },
  })
  expect(sent).toEqual(before)
})

test("what could mean two things is not touched", async () => {
  const loose = Type.Object({
    id: Type.Union([Type.String(), Type.Integer()]),
    text: Type.String(),
    any: Type.Unknown(),
  })
  const input = { id: "5", text: "true", any: "[1]" }
  expect(await check(input, loose)).toEqual({ input })
  for (const count of ["1.5", "0x10", "1,000", "", "12abc", "99999999999999999999"]) {
    expect(await check({ count }, Type.Object({ count: Type.Integer() }))).toHaveProperty("refusal")
  }
})

test("null for a field that may be left out leaves it out", async () => {
  expect(await check({ path: "a", offset: null }, File)).toEqual({ input: { path: "a" } })
  expect(await refusalOf({ path: null }, File)).toContain('"path": expected string, got null')
})

test("fields named like parts of every object are fields", async () => {
  const input = JSON.parse('{"path": "a", "__proto__": {"x": 1}, "constructor": "y"}')
  const checked = (await check(input, File)) as { input: object }
  expect(Object.keys(checked.input)).toEqual(["path", "__proto__", "constructor"])
  expect(Object.getPrototypeOf(checked.input)).toBe(Object.prototype)
})

test("a refusal names eight faults and counts the rest", async () => {
  const fields = Array.from({ length: 12 }, (_, i) => `field${i}`)
  const schema = {
    type: "object",
    properties: Object.fromEntries(fields.map((name) => [name, { type: "integer" }])),
  }
  const input = Object.fromEntries(fields.map((name) => [name, "x"]))
  const lines = (await refusalOf(input, schema)).split("\n")
  expect(lines).toHaveLength(10)
  expect(lines.at(-1)).toBe("- and 4 more")
})

test("a schema that cannot be used costs the check and not the tool", async () => {
  const { tool, inputs } = counting({
    type: "object",
    properties: { a: { type: "string", pattern: "(" }, b: { $ref: "#/nowhere" } },
  })
  expect(await runTool(tool, { a: "x", b: 1 })).toEqual({ output: "ran", isError: false })
  expect(inputs).toEqual([{ a: "x", b: 1 }])
})
