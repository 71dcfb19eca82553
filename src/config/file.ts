/** Reads one configuration file: YAML, TOML or JSON, told by its extension. Parsers load when they are needed. */
import { readFileSync } from "node:fs"
import { dirname, extname, resolve } from "node:path"
import { errorText, KernelError } from "../lib/error.ts"
import { isObject, parseJson } from "../lib/json.ts"
import type { Source, Tree } from "./merge.ts"

type Parse = (text: string) => unknown

const PARSERS: Record<string, () => Promise<Parse>> = {
  ".yaml": parseYaml,
  ".yml": parseYaml,
  ".toml": async () => (await import("smol-toml")).parse,
  ".json": async () => parseJson,
}

async function parseYaml(): Promise<Parse> {
  const { parse } = await import("yaml")
  return (text) => parse(text, { logLevel: "error" })
}

/**
 * The settings of a file; an empty file is an empty mapping. Throws KernelError("config") that names the file
 * when it cannot be read, has an unknown extension, or does not parse.
 */
export async function readConfigFile(name: string, cwd: string): Promise<Source> {
  const path = resolve(cwd, name)
  const parser = PARSERS[extname(path).toLowerCase()]
  if (!parser) {
    throw new KernelError(
      "config",
      `${name}: the format follows the extension, and that must be .yaml, .yml, .toml or .json`,
    )
  }
  const text = readText(path, name)
  return { name, directory: dirname(path), tree: parseTree(await parser(), text, name) }
}

/** The settings in a YAML text. Throws KernelError("config") that begins with `name` when it is none. */
export const parseYamlTree = async (text: string, name: string): Promise<Tree> =>
  parseTree(await parseYaml(), text, name)

function parseTree(parse: Parse, text: string, name: string): Tree {
  let tree: unknown
  try {
    tree = parse(text) ?? {}
  } catch (error) {
    throw new KernelError("config", `${name}: ${parseComplaint(error)}`, { cause: error })
  }
  if (isObject(tree)) return tree
  throw new KernelError("config", `${name}: expected a mapping of sections such as server, db, llm`)
}

/** In one line. Parsers draw the place below it; the one for TOML says it nowhere else. */
function parseComplaint(error: unknown): string {
  const complaint = errorText(error).split("\n", 1)[0]!.replace(/:$/, "")
  if (!(error instanceof Error && "codeblock" in error)) return complaint
  const { line, column } = error as { line?: number; column?: number }
  return `${complaint} at line ${line}, column ${column}`
}

function readText(path: string, name: string): string {
  try {
    // Editors on Windows put a byte order mark in front, which JSON and TOML refuse.
    return readFileSync(path, "utf8").replace(/^\uFEFF/, "")
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    const why =
      code === "ENOENT"
        ? "there is no such file"
        : code === "EISDIR"
          ? "is a directory"
          : errorText(error)
    throw new KernelError("config", `cannot read the configuration file ${name}: ${why}`, {
      cause: error,
    })
  }
}
