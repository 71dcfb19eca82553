/**
 * From a merged tree to resolved values: unknown keys are named, what people write is converted, defaults are
 * filled in, and the result is checked against the schema. Every problem is collected; nothing throws.
 */
import { dirname } from "node:path"
import { Errors, type ValueError } from "@sinclair/typebox/errors"
import { isObject } from "../lib/json.ts"
import { nearest } from "../lib/text.ts"
import { CONVERTERS, type Place } from "./convert.ts"
import { explain } from "./explain.ts"
import { type Field, propertiesOf, recordOf } from "./field.ts"
import type { Merged, Tree } from "./merge.ts"
import { type Path, type Problem, pathText } from "./problem.ts"

export interface ResolveOptions {
  merged: Merged
  schema: Field
  /** Where defaults beside the configuration lie, and relative paths whose source is unknown. */
  directory: string
  home: string | undefined
}

interface Context extends ResolveOptions {
  problems: Problem[]
  databaseDirectory: string
}

/** The resolved tree; it fits the schema when there are no problems. */
export function resolveTree(options: ResolveOptions): { value: unknown; problems: Problem[] } {
  const context: Context = {
    ...options,
    problems: [],
    databaseDirectory: databaseDirectory(options),
  }
  const value = resolveValue(options.merged.tree, options.schema, { path: [], context })
  for (const error of Errors(options.schema, value)) addMismatch(error, context)
  return { value, problems: context.problems }
}

/** The configured database's directory: pictures lie beside it by default. */
function databaseDirectory({ merged, directory, home }: ResolveOptions): string {
  const path = isObject(merged.tree.db) ? merged.tree.db.path : undefined
  if (typeof path !== "string") return directory
  const place = { directory: merged.originOf(["db", "path"])?.directory ?? directory, home }
  const converted = CONVERTERS.path(path, place)
  return "value" in converted ? dirname(String(converted.value)) : directory
}

interface At {
  path: Path
  context: Context
}

function resolveValue(value: unknown, field: Field, at: At): unknown {
  if (field.type === "object") return resolveMapping(value, field, at)
  if (field.type === "array") {
    if (!Array.isArray(value)) return value
    const item = field.items as Field
    return value.map((entry, i) =>
      resolveValue(entry, item, { ...at, path: [...at.path, String(i)] }),
    )
  }
  if (field.kind === undefined) return value
  return convert(value, field, at)
}

function resolveMapping(value: unknown, field: Field, at: At): unknown {
  if (!isObject(value)) return value
  const record = recordOf(field)
  if (record) {
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [
        name,
        resolveValue(inner, record, { ...at, path: [...at.path, name] }),
      ]),
    )
  }
  const properties = propertiesOf(field) ?? {}
  reportUnknown(value, Object.keys(properties), at)
  const resolved: [string, unknown][] = []
  for (const [key, inner] of Object.entries(properties)) {
    const own = { ...at, path: [...at.path, key] }
    const entry = withDefault(Object.hasOwn(value, key) ? value[key] : undefined, inner, own)
    if (entry !== undefined) resolved.push([key, entry])
  }
  return Object.fromEntries(resolved)
}

/** An absent key and one left blank (YAML null) mean the default. */
function withDefault(value: unknown, field: Field, at: At): unknown {
  if (value !== undefined && value !== null) return resolveValue(value, field, at)
  if (field.beside) return convert(field.default, field, at)
  if (field.default !== undefined) return resolveValue(structuredClone(field.default), field, at)
  return propertiesOf(field) ? resolveMapping({}, field, at) : undefined
}

function convert(value: unknown, field: Field, at: At): unknown {
  const converted = CONVERTERS[field.kind!](value, placeOf(field, at))
  if ("value" in converted) return converted.value
  addProblem(at.context, at.path, converted.wrong)
  return value
}

function placeOf(field: Field, { path, context }: At): Place {
  const origin = context.merged.originOf(path)
  const written = origin !== undefined && hasValue(context.merged.tree, path)
  if (written) return { directory: origin.directory, home: context.home }
  const directory = field.beside === "database" ? context.databaseDirectory : context.directory
  return { directory, home: context.home }
}

function hasValue(tree: Tree, path: Path): boolean {
  let value: unknown = tree
  for (const key of path) {
    if (Array.isArray(value)) value = value[Number(key)]
    else if (isObject(value) && Object.hasOwn(value, key)) value = value[key]
    else return false
  }
  return value !== undefined && value !== null
}

function reportUnknown(value: Tree, known: string[], { path, context }: At): void {
  for (const key of Object.keys(value)) {
    if (known.includes(key)) continue
    const near = nearest(key, known)
    const elsewhere = near === undefined ? keyElsewhere(key, context.schema) : undefined
    const advice = near ?? elsewhere
    addProblem(
      context,
      [...path, key],
      advice === undefined
        ? `there is no such key; known here: ${known.join(", ")}`
        : `there is no such key; did you mean ${advice}?`,
    )
  }
}

/** A key of this very name in another place, as `server.listen` for a bare `listen`. */
function keyElsewhere(key: string, schema: Field, path: Path = []): string | undefined {
  for (const [name, inner] of Object.entries(propertiesOf(schema) ?? {})) {
    const own = [...path, name]
    if (name === key) return pathText(own)
    const deeper = keyElsewhere(key, inner, own)
    if (deeper) return deeper
  }
  return undefined
}

function addMismatch(error: ValueError, context: Context): void {
  const path = error.path
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
  const text = pathText(path)
  // One line a key: a value that could not be converted, and what is around it, is not named twice.
  if (context.problems.some((problem) => problem.path === text)) return
  addProblem(context, path, explain(error))
}

function addProblem(context: Context, path: Path, message: string): void {
  const source = context.merged.originOf(path)?.name
  context.problems.push({ path: pathText(path), message, ...(source && { source }) })
}
