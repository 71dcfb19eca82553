/** The input schema as a model is shown it. */
import { expect, test } from "bun:test"
import { Type } from "@sinclair/typebox"
import { shownSchema } from "../../src/tools/shown-schema.ts"

test("says all that a model can act on, and nothing that only the check needs", () => {
  const schema = Type.Object(
    {
      path: Type.String({ minLength: 1 }),
      on: Type.Optional(
        Type.Union([Type.Literal("client"), Type.Literal("server")], { description: "Where" }),
      ),
      count: Type.Integer({ minimum: 1, maximum: 50 }),
      code: Type.String({ minLength: 3, maxLength: 3, pattern: "^[a-z]+$" }),
      text: Type.String({ maxLength: 100_000 }),
      list: Type.Array(
        Type.Object({ minLength: Type.Integer() }, { additionalProperties: false }),
        {
          minItems: 1,
          maxItems: 3,
        },
      ),
      either: Type.Union([Type.String({ minLength: 1 }), Type.Null()]),
    },
    { additionalProperties: false },
  )
  expect(shownSchema(schema)).toEqual({
    type: "object",
    required: ["path", "count", "code", "text", "list", "either"],
    properties: {
      path: { type: "string" },
      on: { type: "string", enum: ["client", "server"], description: "Where" },
      count: { type: "integer", minimum: 1, maximum: 50 },
      code: { type: "string", minLength: 3, maxLength: 3, pattern: "^[a-z]+$" },
      text: { type: "string" },
      list: {
        type: "array",
        minItems: 1,
        maxItems: 3,
        items: {
          type: "object",
          required: ["minLength"],
          properties: { minLength: { type: "integer" } },
        },
      },
      either: { anyOf: [{ type: "string" }, { type: "null" }] },
    },
  })
})

test("a schema of somebody else goes as it is", () => {
  const foreign = {
    type: "object",
    properties: { a: { type: "string", minLength: 1, default: { additionalProperties: false } } },
    additionalProperties: false,
  }
  expect(shownSchema(foreign)).toBe(foreign)
})
