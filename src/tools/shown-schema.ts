/**
 * The schema of a tool's input as a model is shown it. The kernel checks every call against the full schema and says
 * what is wrong, so what a model gains nothing from is left out: it would be paid for with every request.
 */
import { Kind } from "@sinclair/typebox"
import { isObject } from "../lib/json.ts"

/** A limit that only says "not empty". */
const NOT_EMPTY = 1
/** Limits of texts above this are for accidents, not for models. */
const LONG = 200

/** Schemas of others, such as of MCP servers and declared tools, go as they are. */
export const shownSchema = (schema: object): Record<string, unknown> =>
  (Kind in schema ? brief(schema) : schema) as Record<string, unknown>

function brief(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(brief)
  if (!isObject(schema)) return schema
  const values = choices(schema.anyOf)
  if (values) {
    const { anyOf: _union, ...rest } = schema
    return { ...(brief(rest) as object), type: "string", enum: values }
  }
  const kept = Object.entries(schema).filter(([key, value]) => !isNoise(key, value))
  return Object.fromEntries(
    kept.map(([key, value]) => [key, key === "properties" ? each(value) : inner(key, value)]),
  )
}

const each = (properties: unknown): unknown =>
  isObject(properties)
    ? Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, brief(schema)]))
    : properties

/** Only what holds schemas itself is looked into: a default or an example is somebody's data. */
const inner = (key: string, value: unknown): unknown =>
  ["items", "anyOf", "allOf", "additionalProperties"].includes(key) ? brief(value) : value

const isNoise = (key: string, value: unknown): boolean =>
  (key === "additionalProperties" && value === false) ||
  (key === "minLength" && value === NOT_EMPTY) ||
  (key === "maxLength" && Number(value) >= LONG)

/** The texts of a union of nothing but texts. */
function choices(union: unknown): string[] | undefined {
  if (!Array.isArray(union) || union.length === 0) return undefined
  const texts = union.map((option: unknown) => (isObject(option) ? option.const : undefined))
  return texts.every((text) => typeof text === "string") ? texts : undefined
}
