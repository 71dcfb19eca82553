/** Reads the configuration files that were named, with the environment laid over them. */
import { dirname, resolve } from "node:path"
import type { Environment } from "../lib/environment.ts"
import { assert } from "../lib/error.ts"
import { buildConfig, type LoadedConfig } from "./build.ts"
import { readConfigFile } from "./file.ts"
import { mergeSources } from "./merge.ts"
import { environmentSources } from "./overlay.ts"
import { Config } from "./schema.ts"

export interface LoadOptions {
  /** At least one; a later file overrides an earlier one. */
  files: readonly string[]
  environment: Environment
  /** Relative file names, and relative paths in environment variables, start here. */
  cwd: string
}

/**
 * The configuration of these files. Throws KernelError("config") whose message has a line for each problem and
 * whose `path` is the key of the first.
 */
export async function loadConfig({ files, environment, cwd }: LoadOptions): Promise<LoadedConfig> {
  assert(files.length > 0, "loadConfig needs a file; without one there is defaultConfig")
  const fromFiles = await Promise.all(files.map((file) => readConfigFile(file, cwd)))
  const { tree } = mergeSources(fromFiles)
  const overlay = await environmentSources({ environment, cwd, schema: Config, tree })
  return buildConfig({
    sources: [...fromFiles, ...overlay],
    environment,
    directory: dirname(resolve(cwd, files[0]!)),
  })
}
