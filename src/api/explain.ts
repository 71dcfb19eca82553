/**
 * What is wrong with a body or a query, in words: the field, what was expected, and the type of what was
 * found. Found values are never repeated: they may be secrets or megabytes.
 */
import type { TObject, TSchema } from "@sinclair/typebox"
import { type ValueError, ValueErrorType } from "@sinclair/typebox/errors"
import { KernelError } from "../lib/error.ts"
import { head, nearest } from "../lib/text.ts"

/** A name that somebody sent is repeated up to this length. */
const NAME_CHARS_MAX = 200

/** Where in a request a value stood. */
export type Place = "body" | "query" | "params" | "headers"

/** A body that does not fit is 422; a wrong parameter in the address is 400. */
export function explainMisfit(place: Place, errors: readonly ValueError[]): KernelError {
  const error = errors.find(isUnknownField) ?? errors[0]
  const what = place === "body" ? "the body" : place === "query" ? "the query" : "the address"
  const code = place === "body" ? "unprocessable" : "invalid"
  if (error === undefined) return new KernelError(code, `${what} does not fit its schema`)
  const path = head(fieldPath(error.path), NAME_CHARS_MAX)
  return new KernelError(code, sentence({ what, path, error }), path === "" ? {} : { path })
}

const isUnknownField = (error: ValueError): boolean =>
  error.type === ValueErrorType.ObjectAdditionalProperties

function sentence({ what, path, error }: { what: string; path: string; error: ValueError }) {
  if (isUnknownField(error)) return unknownField({ what, path, error })
  const field = path === "" ? what : path
  if (error.value === undefined) return `${field} is missing: expected ${expectation(error.schema)}`
  return `${field}: expected ${expectation(error.schema)}, found ${typeName(error)}`
}

function unknownField({ what, path, error }: { what: string; path: string; error: ValueError }) {
  const known = Object.keys((error.schema as TObject).properties ?? {})
  const name = path.slice(path.lastIndexOf(".") + 1)
  const near = nearest(name, known)
  const advice = near === undefined ? `known are ${known.join(", ")}` : `did you mean ${near}?`
  return `${what} has no field ${path}: ${advice}`
}

/** `/batch/1/text` → `batch[1].text`. */
const fieldPath = (pointer: string): string =>
  pointer
    .slice(1)
    .split("/")
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    .map((part) => (/^\d+$/.test(part) ? `[${part}]` : `.${part}`))
    .join("")
    .replace(/^\./, "")

/** What would be right, as `a whole number from 1 to 500`. */
function expectation(schema: TSchema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (Array.isArray(schema.anyOf)) return alternatives(schema.anyOf as TSchema[])
  switch (schema.type) {
    case "string":
      if (schema.pattern !== undefined) return `text that matches ${schema.pattern}`
      return `text${limits(schema.minLength, schema.maxLength, " characters")}`
    case "integer":
      return `a whole number${range(schema)}`
    case "number":
      return `${schema.multipleOf === 1 ? "a whole number" : "a number"}${range(schema)}`
    case "boolean":
      return "true or false"
    case "null":
      return "null"
    case "array":
      return `a list${limits(schema.minItems, schema.maxItems, " entries")}`
    case "object":
      return schema.minProperties ? "an object with at least one field" : "an object"
    default:
      return "another value"
  }
}

function alternatives(choices: readonly TSchema[]): string {
  const names = choices.flatMap(flatten).map(expectation)
  if (names.length === 1) return names[0]!
  return `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`
}

const flatten = (schema: TSchema): TSchema[] =>
  Array.isArray(schema.anyOf) ? (schema.anyOf as TSchema[]).flatMap(flatten) : [schema]

function limits(least: unknown, most: unknown, unit: string): string {
  if (least !== undefined && most !== undefined) return ` of ${least} to ${most}${unit}`
  if (most !== undefined) return ` of at most ${most}${unit}`
  return least === undefined ? "" : ` of at least ${least}${unit}`
}

function range({ minimum, maximum }: TSchema): string {
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`
  if (minimum !== undefined) return ` of at least ${minimum}`
  return maximum === undefined ? "" : ` of at most ${maximum}`
}

/** The type of what was found; its size or value when the type is right and those are not. */
function typeName({ value, schema }: ValueError): string {
  if (value === null) return "null"
  if (typeof value === "number" && /integer|number/.test(schema.type)) return String(value)
  if (Array.isArray(value)) return schema.type === "array" ? `${value.length} entries` : "a list"
  if (typeof value === "string" && schema.type === "string") return `${value.length} characters`
  const names: Record<string, string> = { string: "text", object: "an object" }
  return names[typeof value] ?? `a ${typeof value}`
}
