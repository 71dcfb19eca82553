/**
 * Settings from the environment: `EVA_LLM__MODEL__GENERAL` is `llm.model.general`. Only names that hold `__`
 * are settings, so EVA_COMMIT, EVA_TRACE_DIR and the like are left alone. An empty value counts as not set.
 */
import type { Environment } from "../lib/environment.ts"
import { errorText, KernelError } from "../lib/error.ts"
import { isObject } from "../lib/json.ts"
import { type Field, propertiesOf, recordOf } from "./field.ts"
import type { Source, Tree } from "./merge.ts"
import { type Path, pathText } from "./problem.ts"

export interface OverlayOptions {
  environment: Environment
  /** Relative paths in a variable start here. */
  cwd: string
  schema: Field
  /** What the files say: names that people chose (`llm.providers.My-Box`) are found in it. */
  tree: Tree
}

/** One source for each variable, in the order of their names. */
export async function environmentSources(options: OverlayOptions): Promise<Source[]> {
  const sources: Source[] = []
  for (const [name, value] of Object.entries(options.environment).sort()) {
    if (!/^EVA_[^_].*__/.test(name) || !value) continue
    const { path, field } = locate(name.slice("EVA_".length).split("__"), options)
    sources.push({
      name,
      directory: options.cwd,
      tree: nest(path, await decode(value, field, path)),
    })
  }
  return sources
}

function locate(parts: string[], { schema, tree }: OverlayOptions): { path: Path; field?: Field } {
  const path: string[] = []
  let field: Field | undefined = schema
  let known: unknown = tree
  for (const part of parts) {
    const record: Field | undefined = field && recordOf(field)
    const name: string =
      record && isObject(known) ? nameLike(part, Object.keys(known)) : part.toLowerCase()
    path.push(name)
    field = record ?? (field && propertiesOf(field)?.[name])
    known = isObject(known) ? known[name] : undefined
  }
  return field ? { path, field } : { path }
}

/** The name already in use that this could mean: variables know neither small letters nor dashes. */
function nameLike(part: string, names: string[]): string {
  const plain = (name: string) => name.toLowerCase().replaceAll(/[^a-z0-9]/g, "_")
  return names.find((name) => plain(name) === plain(part)) ?? part.toLowerCase()
}

/** The schema says how a value is read, so a key made of digits stays text. Lists and mappings are YAML. */
async function decode(value: string, field: Field | undefined, path: Path): Promise<unknown> {
  const type = field?.type
  if (type === "boolean" || type === "number" || type === "integer") return plainValue(value)
  if (type !== "array" && type !== "object") return value
  const { parse } = await import("yaml")
  try {
    return parse(value)
  } catch (error) {
    throw new KernelError("config", `${pathText(path)}: ${errorText(error).trimEnd()}`, {
      path: pathText(path),
      cause: error,
    })
  }
}

function plainValue(value: string): unknown {
  const text = value.trim()
  if (text === "true") return true
  if (text === "false") return false
  const number = Number(text)
  return text !== "" && Number.isFinite(number) ? number : value
}

const nest = (path: Path, value: unknown): Tree =>
  path.reduceRight<unknown>((inner, key) => Object.fromEntries([[key, inner]]), value) as Tree
