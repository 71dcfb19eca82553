/**
 * Small slips in arguments that have one reading only: a number, a flag, a list or an object written as a
 * string, and null for a field that may be left out. What could mean two things is left for the check.
 */
import { isObject, tryParseJson } from "../lib/json.ts"

type Schema = Record<string, unknown>

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const REF_HOPS_MAX = 8

/** A copy of `value` with the slips mended after `schema`, a JSON Schema; both stay untouched. */
export function repairValue(value: unknown, schema: unknown, root: unknown = schema): unknown {
  const shape = soleShape(schema, root)
  if (!shape) return value
  const mended = typeof value === "string" ? fromString(value, typesOf(schema, root)) : value
  if (isObject(mended)) return repairObject(mended, shape, root)
  if (Array.isArray(mended) && isObject(shape.items)) {
    return mended.map((item) => repairValue(item, shape.items, root))
  }
  return mended
}

function repairObject(value: Schema, shape: Schema, root: unknown): Schema {
  const properties = isObject(shape.properties) ? shape.properties : {}
  const required: unknown[] = Array.isArray(shape.required) ? shape.required : []
  const mended: [string, unknown][] = []
  for (const [name, field] of Object.entries(value)) {
    const schema = Object.hasOwn(properties, name) ? properties[name] : undefined
    const leftOut = field === null && schema !== undefined && !required.includes(name)
    if (leftOut && !accepts("null", typesOf(schema, root))) continue
    mended.push([name, repairValue(field, schema, root)])
  }
  return Object.fromEntries(mended)
}

function fromString(text: string, types: Set<string> | undefined): unknown {
  if (!types || types.has("string")) return text
  const trimmed = text.trim()
  if (types.has("number") || types.has("integer")) {
    const number = Number(trimmed)
    const whole = types.has("number") || Number.isSafeInteger(number)
    if (NUMBER.test(trimmed) && Number.isFinite(number) && whole) return number
  }
  if (types.has("boolean") && /^(true|false)$/i.test(trimmed)) {
    return trimmed.toLowerCase() === "true"
  }
  if (types.has("null") && trimmed === "null") return null
  if (types.has("object") || types.has("array")) {
    const parsed = tryParseJson(trimmed)?.value
    if (types.has("array") && Array.isArray(parsed)) return parsed
    if (types.has("object") && isObject(parsed)) return parsed
  }
  return text
}

/** The schema behind references, and behind a choice whose other branches are only null. */
function soleShape(schema: unknown, root: unknown): Schema | undefined {
  const shape = deref(schema, root)
  if (!shape) return undefined
  const branches = shape.anyOf ?? shape.oneOf
  if (!Array.isArray(branches)) return shape
  const real = branches.filter((branch) => deref(branch, root)?.type !== "null")
  return real.length === 1 && real.length < branches.length ? deref(real[0], root) : shape
}

/** Every JSON type that the schema lets through, or undefined when it does not say. */
function typesOf(schema: unknown, root: unknown, depth = 0): Set<string> | undefined {
  const shape = deref(schema, root)
  if (!shape || depth > REF_HOPS_MAX) return undefined
  if (typeof shape.type === "string") return new Set([shape.type])
  if (Array.isArray(shape.type)) return new Set(shape.type.map(String))
  if ("const" in shape) return new Set([jsonType(shape.const)])
  if (Array.isArray(shape.enum)) return new Set(shape.enum.map(jsonType))
  const branches = shape.anyOf ?? shape.oneOf
  if (!Array.isArray(branches)) return undefined
  const all = new Set<string>()
  for (const branch of branches) {
    const types = typesOf(branch, root, depth + 1)
    if (!types) return undefined
    for (const type of types) all.add(type)
  }
  return all
}

const accepts = (type: string, types: Set<string> | undefined): boolean => !types || types.has(type)

function deref(schema: unknown, root: unknown): Schema | undefined {
  let current = schema
  for (let hop = 0; hop < REF_HOPS_MAX; hop++) {
    if (!isObject(current)) return undefined
    if (typeof current.$ref !== "string") return current
    current = current.$ref.startsWith("#") ? atPointer(root, current.$ref) : undefined
  }
  return undefined
}

/** The value at a JSON pointer in fragment form, `#/a/b~1c` (RFC 6901), or undefined. */
export function atPointer(root: unknown, pointer: string): unknown {
  let current = root
  for (const key of pointerKeys(pointer)) {
    if (typeof current !== "object" || current === null || !Object.hasOwn(current, key)) {
      return undefined
    }
    current = (current as Record<string, unknown>)[key]
  }
  return current
}

export const pointerKeys = (pointer: string): string[] =>
  pointer
    .split("/")
    .slice(1)
    .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"))

/** The JSON type of a value; whole numbers are `integer`. */
export function jsonType(value: unknown): string {
  if (value === null) return "null"
  if (Array.isArray(value)) return "array"
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number"
  return typeof value
}
