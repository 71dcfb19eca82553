/** The smallest value that fits a JSON Schema: how the mock fills answers and arguments. */
import { isObject } from "../lib/json.ts"

type Schema = Record<string, unknown>

/** Recursive schemas end here: optional branches are left out long before. */
const MAX_DEPTH = 24

/** Strings of the usual formats (JSON Schema 2020-12, validation, section 7.3). */
const FORMATS: Record<string, string> = {
  "date-time": "2026-01-01T00:00:00.000Z",
  date: "2026-01-01",
  time: "00:00:00Z",
  duration: "P1D",
  email: "someone@example.com",
  hostname: "example.com",
  ipv4: "192.0.2.1",
  ipv6: "2001:db8::1",
  uri: "https://example.com/",
  uuid: "00000000-0000-4000-8000-000000000000",
}

/**
 * A value that is valid by the schema, the same one each time. Not understood: `pattern` (give such a field
 * an `example` or a `default`), `not`, `if`, and references outside the schema itself.
 */
export const sampleOf = (schema: Schema): unknown => sample(schema, schema, 0)

function sample(schema: unknown, root: Schema, depth: number): unknown {
  if (!isObject(schema) || depth > MAX_DEPTH) return null
  if ("const" in schema) return schema.const
  if ("default" in schema) return schema.default
  for (const list of [schema.enum, schema.examples])
    if (Array.isArray(list) && list.length > 0) return list[0]
  if (typeof schema.$ref === "string") return sample(resolveRef(schema.$ref, root), root, depth + 1)
  const choice = firstOf(schema.anyOf) ?? firstOf(schema.oneOf)
  if (choice)
    return sample(merged([{ ...schema, anyOf: [], oneOf: [] }, choice], root), root, depth + 1)
  if (Array.isArray(schema.allOf) && schema.allOf.length > 0)
    return sample(merged([{ ...schema, allOf: [] }, ...schema.allOf], root), root, depth + 1)
  return sampleOfType(schema, root, depth)
}

function sampleOfType(schema: Schema, root: Schema, depth: number): unknown {
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type
  if (type === "object" || isObject(schema.properties)) return sampleObject(schema, root, depth)
  switch (type) {
    case "array":
      return Array.from({ length: amount(schema.minItems) }, (_, index) =>
        sample(firstOf(schema.prefixItems, index) ?? schema.items, root, depth + 1),
      )
    case "integer":
    case "number":
      return sampleNumber(schema)
    case "boolean":
      return true
    case "null":
      return null
    default:
      return sampleString(schema)
  }
}

function sampleObject(schema: Schema, root: Schema, depth: number): Schema {
  const properties = isObject(schema.properties) ? schema.properties : {}
  const required = Array.isArray(schema.required) ? schema.required.map(String) : []
  return Object.fromEntries(
    required.map((key) => [key, sample(properties[key] ?? {}, root, depth + 1)]),
  )
}

function sampleNumber(schema: Schema): number {
  const step = typeof schema.multipleOf === "number" ? schema.multipleOf : 1
  const low = numberOr(schema.minimum, -Infinity)
  const above = numberOr(schema.exclusiveMinimum, -Infinity)
  const high = Math.min(
    numberOr(schema.maximum, Infinity),
    numberOr(schema.exclusiveMaximum, Infinity),
  )
  const start = Math.max(low, above)
  if (start === -Infinity) return high >= step ? step : Math.floor((high - step) / step) * step
  const value = Math.ceil(start / step) * step
  const next = value <= above ? value + step : value
  // A range narrower than a step, such as 0 < x < 1, is met in its middle.
  return next < high || next === schema.maximum || schema.type === "integer"
    ? next
    : (start + high) / 2
}

function sampleString(schema: Schema): string {
  const text = FORMATS[String(schema.format)] ?? "sample"
  const cut = text.slice(0, numberOr(schema.maxLength, text.length))
  return cut.padEnd(amount(schema.minLength), "x")
}

const numberOr = (value: unknown, other: number): number =>
  typeof value === "number" ? value : other

const amount = (value: unknown): number => numberOr(value, 0)

const firstOf = (list: unknown, index = 0): unknown =>
  Array.isArray(list) ? list[index] : undefined

/** All of several schemas at once: properties and requirements add up, the rest is overlaid. */
function merged(parts: unknown[], root: Schema): Schema {
  const result: Schema = {}
  for (const part of parts) {
    const schema =
      isObject(part) && typeof part.$ref === "string" ? resolveRef(part.$ref, root) : part
    if (!isObject(schema)) continue
    const properties = { ...asObject(result.properties), ...asObject(schema.properties) }
    const required = [...new Set([...asList(result.required), ...asList(schema.required)])]
    Object.assign(result, schema)
    if (Object.keys(properties).length > 0) result.properties = properties
    if (required.length > 0) result.required = required
  }
  return result
}

const asObject = (value: unknown): Schema => (isObject(value) ? value : {})
const asList = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

/** A pointer within the same schema: `#`, `#/$defs/Name`; a TypeBox recursive schema names its `$id`. */
function resolveRef(ref: string, root: Schema): unknown {
  if (ref === root.$id) return root
  let target: unknown = root
  for (const step of ref.replace(/^#\/?/, "").split("/").filter(Boolean)) {
    const key = decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~")
    target = isObject(target) ? target[key] : undefined
  }
  return target
}
