/** Says in words what a schema expects and what was found. */
import type { ValueError } from "@sinclair/typebox/errors"
import { head } from "../lib/text.ts"
import { choicesOf, type Field, type FieldKind } from "./field.ts"

const SHOWN_CHARS = 60

const KINDS: { [kind in FieldKind]?: string } = {
  duration: "a duration",
  size: "a size",
  path: "a path",
  url: "an http or https address",
  origin: "an origin",
  listen: "ADDRESS:PORT",
  zone: "an IANA time zone",
  pattern: "a regular expression",
}

export function explain(error: ValueError): string {
  const field = error.schema as Field
  const hint = field.hint === undefined ? "" : `; ${field.hint}`
  if (error.value === undefined) {
    return `is required: ${field.description ?? expectation(field)}${hint}`
  }
  return `expected ${expectation(field)}${found(field, error.value)}${hint}`
}

const found = (field: Field, value: unknown): string =>
  field.secret ? "" : `, found ${head(JSON.stringify(value) ?? String(value), SHOWN_CHARS)}`

/** What would be right, as `a whole number of at least 1`. */
export function expectation(field: Field): string {
  const choices = choicesOf(field)
  if (choices) return `one of ${choices.join(", ")}`
  const kind = field.kind && KINDS[field.kind]
  if (kind) return kind
  switch (field.type) {
    case "string":
      return field.secret ? "text; put it in quotes" : "text that is not empty"
    case "integer":
      return `a whole number${bounds(field)}`
    case "number":
      return `a number${bounds(field)}`
    case "boolean":
      return "true or false"
    case "array":
      return "a list"
    default:
      return "a mapping"
  }
}

function bounds(field: Field): string {
  if (field.maximum !== undefined) return ` from ${field.minimum} to ${field.maximum}`
  return field.minimum === undefined ? "" : ` of at least ${field.minimum}`
}
