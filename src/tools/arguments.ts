/**
 * The check of arguments before any tool body runs. Its errors are written for the model: they name the
 * field, what was sent and what would be right, so that the next call can be correct.
 */
import type { OutputUnit, Schema } from "@cfworker/json-schema"
import { errorText } from "../lib/error.ts"
import { isObject, parseJson } from "../lib/json.ts"
import { head, nearest } from "../lib/text.ts"
import { readArguments } from "../llm/fold.ts"
import type { ToolUseBlock } from "../schema/message.ts"
import { atPointer, jsonType, pointerKeys, repairValue } from "./repair.ts"
import type { JsonSchema } from "./tool.ts"

export const ARGUMENT_LIMITS = {
  /** Complaints in one refusal. */
  complaints: 8,
  /** Characters of a wrong value that are quoted back. */
  quotedChars: 60,
  /** Characters of broken JSON that are quoted back. */
  brokenChars: 200,
  /** Field names listed in one complaint. */
  fields: 30,
} as const

export type CheckedArguments = { input: unknown } | { refusal: string }

/**
 * Repairs what has one reading, then checks against the tool's schema.
 * @throws when the schema itself cannot be used (an unresolved `$ref`, a broken pattern)
 */
export async function checkArguments(
  call: ToolUseBlock,
  schema: JsonSchema,
): Promise<CheckedArguments> {
  const read = typeof call.input === "string" ? readArguments(call.input) : call
  if (read.raw !== undefined) return { refusal: brokenJson(read.raw) }
  const input = repairValue(read.input, schema)
  const complaints = await complaintsAbout(input, schema)
  if (complaints.length === 0) return { input }
  return {
    refusal: ["The arguments do not fit; the tool did not run.", ...complaints].join("\n- "),
  }
}

/**
 * What is wrong with a value, one sentence each; empty when it fits the JSON Schema.
 * @throws when the schema itself cannot be used
 */
export async function complaintsAbout(value: unknown, schema: JsonSchema): Promise<string[]> {
  const { Validator } = await import("@cfworker/json-schema")
  const { valid, errors } = new Validator(schema as Schema, draftOf(schema), false).validate(value)
  if (valid) return []
  const told = new Set<string>()
  const telling = leaves(errors)
  for (const error of telling.length > 0 ? telling : errors)
    told.add(complaint(error, { value, schema }))
  const complaints = [...told]
  const shown = complaints.slice(0, ARGUMENT_LIMITS.complaints)
  const more = complaints.length - shown.length
  return more > 0 ? [...shown, `and ${more} more`] : shown
}

function draftOf(schema: JsonSchema): "4" | "7" | "2019-09" {
  const dialect = String((schema as Record<string, unknown>).$schema ?? "")
  if (dialect.includes("draft-04")) return "4"
  return /draft-0[67]/.test(dialect) ? "7" : "2019-09"
}

function brokenJson(raw: string): string {
  const quoted = `You sent: ${cut(raw, ARGUMENT_LIMITS.brokenChars)}`
  try {
    const type = jsonType(parseJson(raw))
    return `The arguments must be one JSON object, and they are a JSON ${type}; the tool did not run. ${quoted}`
  } catch (error) {
    return `The arguments are broken JSON (${errorText(error)}); the tool did not run. Send one complete JSON object. ${quoted}`
  }
}

const STRUCTURAL = new Set([
  "properties",
  "patternProperties",
  "additionalProperties",
  "unevaluatedProperties",
  "items",
  "prefixItems",
  "additionalItems",
  "allOf",
  "if",
  "$ref",
  "$recursiveRef",
  "dependentSchemas",
  "propertyNames",
])
const CHOICES = new Set(["anyOf", "oneOf"])

/** Keeps the errors that say something: not their containers, and of a choice the choice as a whole. */
function leaves(errors: OutputUnit[]): OutputUnit[] {
  const choices = errors
    .filter((error) => CHOICES.has(error.keyword))
    .map((error) => `${error.keywordLocation}/`)
  return errors.filter(
    (error) =>
      !STRUCTURAL.has(error.keyword) &&
      !choices.some((choice) => error.keywordLocation.startsWith(choice)),
  )
}

interface Checked {
  value: unknown
  schema: JsonSchema
}

function complaint(error: OutputUnit, checked: Checked): string {
  const owner =
    error.keyword === "false" ? parentOf(error.instanceLocation) : error.instanceLocation
  const keys = pointerKeys(error.instanceLocation)
  const got = atPointer(checked.value, error.instanceLocation)
  const rule = atSchema(checked.schema, error.keywordLocation)
  const field = keys.length > 0 ? `"${keys.join(".")}"` : "the arguments"
  const plain = `${field}: ${lowerFirst(error.error.replace(/\.$/, ""))}`
  switch (error.keyword) {
    case "required":
      return missingField(error, { ...checked, owner })
    case "false":
      return unknownField(keys, { ...checked, owner })
    case "type":
      if (rule === undefined) return plain
      return `${field}: expected ${[rule].flat().join(" or ")}, got ${quote(got)}`
    case "enum":
    case "const":
      if (rule === undefined) return plain
      return `${field}: expected ${listedValues([rule].flat())}, got ${quote(got)}`
    case "anyOf":
    case "oneOf":
      return `${field}: ${choiceText(rule)}, got ${quote(got)}`
    default:
      return plain
  }
}

interface At extends Checked {
  /** Pointer of the object that holds the field, or should. */
  owner: string
}

function missingField(error: OutputUnit, at: At): string {
  const name = /required property "(.*)"\.$/s.exec(error.error)?.[1] ?? ""
  const sent = fieldsAt(at.value, at.owner)
  const known = new Set(knownFields(at))
  const guess = nearest(
    name,
    sent.filter((field) => !known.has(field)),
  )
  const place = pointerKeys(at.owner).join(".")
  const where = place ? ` in "${place}"` : ""
  const hint = guess ? `; rename ${guess} → ${name}` : ""
  return `missing required field "${name}"${where}; sent fields: ${listed(sent)}${hint}`
}

function unknownField(keys: string[], at: At): string {
  const name = keys.at(-1) ?? ""
  const known = knownFields(at)
  const sent = fieldsAt(at.value, at.owner)
  const guess = nearest(
    name,
    known.filter((field) => !sent.includes(field)),
  )
  const hint = guess ? `; rename ${name} → ${guess}` : ""
  return `unknown field "${keys.join(".")}"; known fields: ${listed(known)}${hint}`
}

/** The field names that the schema of an object knows, found by walking the value's own path. */
function knownFields({ schema, owner }: At): string[] {
  let shapes: unknown[] = [schema]
  const step = (shape: unknown, key: string): unknown[] => {
    if (!isObject(shape)) return []
    const inner = [shape.properties, shape.items].map((holder) =>
      isObject(holder) ? (Object.hasOwn(holder, key) ? holder[key] : undefined) : undefined,
    )
    return /^\d+$/.test(key) ? [...inner, shape.items] : inner
  }
  const spread = (shape: unknown): unknown[] => {
    if (!isObject(shape)) return []
    const target = typeof shape.$ref === "string" ? atPointer(schema, shape.$ref) : undefined
    return [shape, target, ...[shape.allOf, shape.anyOf, shape.oneOf].flat()].filter(isObject)
  }
  for (const key of pointerKeys(owner)) {
    shapes = shapes.flatMap(spread).flatMap((shape) => step(shape, key))
  }
  return shapes
    .flatMap(spread)
    .flatMap((shape) =>
      isObject(shape) && isObject(shape.properties) ? Object.keys(shape.properties) : [],
    )
}

/** The keyword's value in the schema, following local references that the location went through. */
function atSchema(schema: JsonSchema, location: string): unknown {
  let current: unknown = schema
  for (const key of pointerKeys(location)) {
    if (typeof current !== "object" || current === null) return undefined
    const next = (current as Record<string, unknown>)[key]
    current = key === "$ref" && typeof next === "string" ? atPointer(schema, next) : next
  }
  return current
}

function choiceText(rule: unknown): string {
  if (!Array.isArray(rule)) return "it fits none of the allowed forms"
  const forms = rule.map((branch) => {
    if (!isObject(branch)) return "another form"
    if ("const" in branch) return JSON.stringify(branch.const)
    const fields = Array.isArray(branch.required) ? ` with ${branch.required.join(", ")}` : ""
    return `${[branch.type ?? "another form"].flat().join(" or ")}${fields}`
  })
  return `expected ${[...new Set(forms)].join(" or ")}`
}

const parentOf = (pointer: string): string => pointer.slice(0, pointer.lastIndexOf("/"))

function fieldsAt(value: unknown, pointer: string): string[] {
  const object = atPointer(value, pointer)
  return isObject(object) ? Object.keys(object) : []
}

function listed(names: string[]): string {
  if (names.length === 0) return "none"
  const shown = names.slice(0, ARGUMENT_LIMITS.fields)
  const more = names.length - shown.length
  return shown.join(", ") + (more > 0 ? ` and ${more} more` : "")
}

const listedValues = (values: unknown[]): string =>
  values.map((value) => JSON.stringify(value)).join(" or ")

/** A wrong value as the model can recognise it: `string "many"`. */
function quote(value: unknown): string {
  const type = jsonType(value)
  if (type === "null") return "null"
  return `${type} ${cut(JSON.stringify(value) ?? "", ARGUMENT_LIMITS.quotedChars)}`
}

const cut = (text: string, limit: number): string =>
  text.length > limit ? `${head(text, limit)}…` : text

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1)
