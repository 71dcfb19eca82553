/** Reads the folder of external tools. A broken file costs that one tool and is named, never the start. */
import type { Dirent } from "node:fs"
import { readdir, stat } from "node:fs/promises"
import { join, resolve } from "node:path"
import type { Environment } from "../lib/environment.ts"
import { errorText } from "../lib/error.ts"
import type { Log } from "../lib/log.ts"
import type { Tool } from "../tools/tool.ts"
import { readDeclaration } from "./declaration.ts"
import { externalTool } from "./external-tool.ts"

export const EXT_LIMITS = {
  /** Files read from the folder, in the order of their names. */
  files: 500,
  /** Size of one declaration. */
  fileBytes: 262_144,
} as const

export interface ExternalToolsOptions {
  /** The folder with the `*.toml` files; one that is absent holds no tools. */
  dir: string
  log: Log
  /** The environment of the kernel; the programs get a cleaned copy. */
  environment: Environment
}

export interface ExternalToolProblem {
  file: string
  problem: string
}

export interface ExternalTools {
  tools: Tool[]
  /** Files that gave no tool, and why. */
  problems: ExternalToolProblem[]
}

/** The tools that the folder declares. Never throws. */
export async function loadExternalTools(options: ExternalToolsOptions): Promise<ExternalTools> {
  const { log, environment } = options
  const dir = resolve(options.dir)
  const tools: Tool[] = []
  const problems: ExternalToolProblem[] = []
  const report = (file: string, problem: string): void => {
    problems.push({ file, problem })
    log.error("external tool skipped", { file, problem })
  }
  for (const file of await declarationFiles(dir, report)) {
    try {
      const declaration = await readDeclaration(await readTable(file))
      tools.push(externalTool(declaration, { dir, environment }))
    } catch (error) {
      report(file, errorText(error))
    }
  }
  return { tools, problems }
}

async function declarationFiles(
  dir: string,
  report: (file: string, problem: string) => void,
): Promise<string[]> {
  let entries: Dirent[]
  try {
    entries = await readdir(dir, { withFileTypes: true })
  } catch (error) {
    if (!isMissing(error)) report(dir, errorText(error))
    return []
  }
  const names = entries
    .map((entry) => entry.name)
    .filter((name) => name.endsWith(".toml") && !name.startsWith("."))
    .sort()
  for (const name of names.slice(EXT_LIMITS.files)) {
    report(join(dir, name), `the folder holds more than ${EXT_LIMITS.files} tools`)
  }
  return names.slice(0, EXT_LIMITS.files).map((name) => join(dir, name))
}

const isMissing = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "ENOENT"

async function readTable(file: string): Promise<unknown> {
  const { size } = await stat(file)
  if (size > EXT_LIMITS.fileBytes) {
    throw new Error(`the file has ${size} bytes, more than ${EXT_LIMITS.fileBytes}`)
  }
  const text = await Bun.file(file).text()
  const { parse, TomlError } = await import("smol-toml")
  try {
    return parse(text)
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    // The rest of the message is a drawing of the place.
    throw new Error(`line ${error.line}: ${error.message.split("\n", 1)[0]}`)
  }
}
